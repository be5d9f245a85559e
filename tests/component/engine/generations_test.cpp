// SPDX-License-Identifier: Apache-2.0
// The contents of generations, and the actions of boots, rollbacks and removals based on them.
#include <chrono>
#include <thread>

#include <signal.h>

#include "installed.hpp"
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAbsent = "absent";

/// A host that can boot: an image with slipway, or the live machine.
class Generations : public ::testing::Test {
 protected:
  Generations() {
    host.program = testing::installed_program();
    host.put("usr/bin/slipway", "");  // an image with slipway
  }
  Ran run(const std::vector<std::string>& words, int code = 0) const {
    Ran ran = host.slipway(words);
    EXPECT_EQ(ran.code, code) << ::testing::PrintToString(words) << ran.out << ran.err;
    return ran;
  }
  Ran boot(int code = 0) const {
    std::vector<std::string> words{
        "apply", "--boot", "--root", host.folder().at("root").string(), "--cache", host.folder().at("cache").string()};
    if (host.live) words.emplace_back("--live");
    const Ran ran = host.bare(std::move(words));
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    return ran;
  }
  std::string content(const std::string& path) const {
    return std::filesystem::exists(host.path(path)) ? host.text(path) : kAbsent;
  }
  int in_force() const { return Json::parse(host.slipway({"status", "-o", "json"}).out).value("generation", -1); }
  Json generation(int number) const {
    return Json::parse(host.text("var/lib/slipway/generations/" + std::to_string(number) + ".json"));
  }
  static Ran ended(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), {}, {}};
  }
  void probe(const std::string& content, const std::string& others = "") const {
    host.spec("    probe: {files: {/etc/probe.conf: \"" + content + "\"}}\n" + others);
  }

  ScratchHost host;
};

constexpr const char* kPlainBystander = "    bystander: {}\n";
constexpr const char* kUnmergeable = "    bystander: {merges: {/etc/bad.json: '{\"a\": 1}'}}\n";

// Before the fix, a driver that was removed while runtime failed came back at the next boot.
TEST_F(Generations, KeepSucceededComponentsBesideFailedOnes) {
  host.put("etc/bad.json", "no JSON\n");
  probe("one", kPlainBystander);
  run({"apply"});
  host.spec(kUnmergeable);  // the probe is removed, and bystander cannot be changed
  const Ran failed = run({"apply"}, 1);
  EXPECT_EQ(content("etc/probe.conf"), kAbsent);
  EXPECT_THAT(failed.out, HasSubstr("Generation 2 is active. Components that failed keep their previous state"));
  boot();
  EXPECT_EQ(content("etc/probe.conf"), kAbsent);
  EXPECT_EQ(content("etc/bystander"), "here\n");
}

TEST_F(Generations, KeepAChangedOptionBesideFailedComponents) {
  host.put("etc/bad.json", "no JSON\n");
  probe("one", kPlainBystander);
  run({"apply"});
  probe("two", kUnmergeable);
  run({"apply"}, 1);
  boot();
  EXPECT_EQ(content("etc/probe.conf"), "two");
  EXPECT_EQ(generation(2)["spec"]["spec"]["components"]["bystander"], Json::object());
}

TEST_F(Generations, HaveTheResultsOfTheFirstApplyAndLeaveOutTheRest) {
  host.put("etc/bad.json", "no JSON\n");
  probe("one", kUnmergeable);
  run({"apply"}, 1);
  EXPECT_THAT(generation(1)["left_out"], ElementsAre("bystander"));
  EXPECT_THAT(run({"status"}).out, HasSubstr("bystander"));
  std::filesystem::remove(host.path("etc/probe.conf"));
  boot();
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(content("etc/bystander"), kAbsent);
}

TEST_F(Generations, OfAPartialApplyKeepOtherComponents) {
  probe("one", kPlainBystander);
  run({"apply", "--only", "probe", "-f", host.folder().at("host.yaml").string()});
  EXPECT_EQ(content("etc/bystander"), kAbsent);
  boot();
  EXPECT_EQ(content("etc/bystander"), kAbsent);
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(run({"verify"}).code, 0) << "what was left out does not fail";

  probe("two", "    bystander: {file: /etc/other}\n");
  run({"apply"});
  EXPECT_EQ(content("etc/other"), "here\n");
  probe("three", "    bystander: {file: /etc/third}\n");
  run({"apply", "--only", "bystander", "-f", host.folder().at("host.yaml").string()});
  boot();
  EXPECT_EQ(content("etc/probe.conf"), "two");
  EXPECT_EQ(content("etc/third"), "here\n");
  run({"rollback", "--yes"});
  EXPECT_EQ(content("etc/other"), "here\n");
  run({"rollback", "--yes"});  // to the generation with only the probe
  EXPECT_EQ(content("etc/other"), kAbsent);
  EXPECT_EQ(content("etc/probe.conf"), "one");
}

TEST_F(Generations, RollingBackTwiceGoesTwoBack) {
  for (const char* each : {"one", "two", "three"}) {
    probe(each);
    run({"apply"});
  }
  run({"rollback", "--yes"});
  EXPECT_EQ(content("etc/probe.conf"), "two");
  EXPECT_EQ(in_force(), 2);
  run({"rollback", "--yes"});
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(in_force(), 1);
  EXPECT_THAT(run({"rollback", "--yes"}, 1).err, HasSubstr("there is no generation before the active one"));
  run({"rollback", "3", "--yes"});
  EXPECT_EQ(content("etc/probe.conf"), "three");
  EXPECT_EQ(in_force(), 3);

  run({"rollback", "1", "--yes"});
  probe("four");
  run({"apply"});
  EXPECT_EQ(in_force(), 4);
  run({"rollback", "--yes"});  // to the origin of the fourth
  EXPECT_EQ(content("etc/probe.conf"), "one");
}

// Before the fix, the error named the unknown key, as if the user could correct the spec.
TEST_F(Generations, OfAnotherPluginNameThatPlugin) {
  const std::string bystander = "    bystander: {file: /etc/by}\n";
  probe("one", bystander);
  run({"apply"});
  probe("two", bystander);
  run({"apply"});
  Json former = generation(1);
  former["spec"]["spec"]["components"]["probe"]["formerly_known"] = "x";
  former["plugins"]["probe"]["version"] = "0.0.9";
  std::ofstream(host.path("var/lib/slipway/generations/1.json")) << former;
  const Ran rolled = run({"rollback", "1", "--yes"}, 1);
  EXPECT_THAT(rolled.err, HasSubstr("unknown key 'formerly_known' in probe"));
  EXPECT_THAT(rolled.err, HasSubstr("probe 0.0.9; installed is "));
  EXPECT_THAT(rolled.err, HasSubstr("install probe 0.0.9, with which generation 1 was applied"));
  EXPECT_THAT(rolled.err, Not(HasSubstr("bystander 0")));
  EXPECT_EQ(content("etc/probe.conf"), "two");
}

// Before the fix, a failed rollback left an active generation 3 that repeated generation 2.
TEST_F(Generations, RollbackThatFailsKeepsTheActiveOne) {
  probe("one");
  run({"apply"});
  probe("two");
  run({"apply"});
  std::filesystem::rename(host.path("etc/probe.conf"), host.path("etc/aside"));
  host.put("etc/probe.conf/in-the-way", "a folder, which no file replaces");
  run({"rollback", "--yes"}, 1);
  EXPECT_EQ(in_force(), 2);
  EXPECT_FALSE(std::filesystem::exists(host.path("var/lib/slipway/generations/3.json")));
  std::filesystem::remove_all(host.path("etc/probe.conf"));
  std::filesystem::rename(host.path("etc/aside"), host.path("etc/probe.conf"));
  run({"rollback", "--yes"});
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(in_force(), 1);
}

TEST_F(Generations, RollbackOfOneComponentKeepsTheOthers) {
  probe("one", kPlainBystander);
  run({"apply"});
  probe("two", "    bystander: {file: /etc/other}\n");
  run({"apply"});
  run({"rollback", "--only", "probe", "--yes"});
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(content("etc/other"), "here\n");
  EXPECT_EQ(in_force(), 3);
  boot();
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(content("etc/other"), "here\n");
}

TEST_F(Generations, RemoveAllWithOnlyRemovesOnlyThose) {
  probe("one", kPlainBystander);
  run({"apply"});
  run({"remove", "--all", "--only", "bystander", "--yes"});
  EXPECT_EQ(content("etc/bystander"), kAbsent);
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(run({"remove", "probe", "--only", "probe"}, 64).out, "");
}

TEST_F(Generations, RemoveAllWithOnlyIgnoresOtherDamage) {
  probe("one", kPlainBystander);
  run({"apply"});
  host.put("var/lib/slipway/components/probe.json", "{");
  run({"remove", "--all", "--yes"}, 1);
  run({"remove", "--all", "--only", "bystander", "--yes"});
  EXPECT_EQ(content("etc/bystander"), kAbsent);
  EXPECT_EQ(content("etc/probe.conf"), "one");
}

TEST_F(Generations, AreListedWithTheirChanges) {
  probe("one");
  run({"apply"});
  probe("two", kPlainBystander);
  run({"apply"});
  host.spec(kPlainBystander);
  run({"apply"});
  const Ran listed = run({"generations"});
  EXPECT_THAT(listed.out, HasSubstr("1: +bystander, probe (files./etc/probe.conf)"));
  EXPECT_THAT(listed.out, HasSubstr("* 3"));
  EXPECT_THAT(listed.out, HasSubstr("2: -probe"));
  const Json json = Json::parse(run({"generations", "-o", "json"}).out);
  EXPECT_EQ(json["generation"], 3);
  EXPECT_THAT(json["generations"][1]["components"], ElementsAre("bystander", "probe"));
  EXPECT_EQ(json["generations"][1]["before"], 1);

  EXPECT_THAT(run({"diff", "1", "2"}).out, HasSubstr("files./etc/probe.conf: one -> two"));
  EXPECT_THAT(run({"diff", "1"}).out, HasSubstr("- probe"));
  EXPECT_EQ(run({"diff", "3"}).out, "Generation 3 is the active one: name another to compare it with.\n");
  EXPECT_EQ(run({"diff", "3", "3"}).out, "Generations 3 and 3 describe the same state.\n");
  EXPECT_THAT(run({"diff", "9"}, 1).err, HasSubstr("there is no generation 9"));
  EXPECT_THAT(run({"diff", "x"}, 64).err, HasSubstr("is not a generation"));
  EXPECT_THAT(run({"diff"}, 64).err, HasSubstr("which generations?"));
}

TEST_F(Generations, AreListedAsFarAsTheyCanBeRead) {
  probe("one");
  run({"apply"});
  probe("two");
  run({"apply"});
  host.put("var/lib/slipway/generations/2.json", "{");
  const Ran listed = run({"generations"}, 1);
  EXPECT_THAT(listed.out, HasSubstr("applied: probe"));
  EXPECT_THAT(listed.out, HasSubstr("`slipway repair` sets it aside"));
}

TEST_F(Generations, HaveTheTimeOfTheMachineOrOfTheImagesSources) {
  probe("one");
  run({"apply"});
  EXPECT_FALSE(generation(1).contains("time"));
  probe("two");
  const Ran dated = ended(host.start({"apply"}, {"SOURCE_DATE_EPOCH=1700000000"}));
  EXPECT_EQ(dated.code, 0);
  EXPECT_EQ(generation(2)["time"], "2023-11-14T22:13:20Z");
  host.live = true;
  probe("three");
  run({"apply"});
  EXPECT_THAT(generation(3).value("time", ""), ::testing::MatchesRegex("20[0-9]{2}-.*Z"));
}

TEST_F(Generations, KeepTheirNumbersAfterGc) {
  for (int i = 1; i <= 7; ++i) {
    probe(std::to_string(i));
    run({"apply"});
  }
  run({"gc"});
  const std::string status = run({"status"}).out;
  EXPECT_THAT(status, HasSubstr("Generation 7 is active"));
  EXPECT_THAT(status, HasSubstr("`slipway generations` lists 5"));
  EXPECT_THAT(status, Not(HasSubstr("of 5")));
}

/// Starts an apply, and kills it while the probe's own action sleeps: components before the probe are committed by
/// then.
void apply_and_kill(const ScratchHost& host) {
  const pid_t child = host.start({"apply"});
  while (!std::filesystem::exists(host.path("etc/asleep"))) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it has ended: " << host.error_text();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
}

constexpr const char* kSleepy = "    probe: {files: {/etc/probe.conf: \"two\", /etc/asleep: x}, custom: sleeps}\n";

TEST_F(Generations, HaveTheCommittedPartOfAnInterruptedApply) {
  host.live = true;
  probe("one", "    bystander: {file: /etc/first}\n");
  run({"apply"});
  host.spec(std::string("    bystander: {file: /etc/second}\n") + kSleepy);
  apply_and_kill(host);
  boot();
  EXPECT_EQ(content("etc/second"), "here\n") << "a boot took away what was added";
  EXPECT_EQ(content("etc/first"), kAbsent) << "a boot brought back what was removed";
  EXPECT_EQ(content("etc/probe.conf"), "one");
  EXPECT_EQ(generation(2)["spec"]["spec"]["components"]["bystander"]["file"], "/etc/second");
  run({"rollback", "--yes"});
  EXPECT_EQ(content("etc/first"), "here\n");
}

TEST_F(Generations, HaveNoComponentThatAnInterruptedApplyRemoved) {
  host.live = true;
  probe("one", kPlainBystander);
  run({"apply"});
  host.spec(kSleepy);
  apply_and_kill(host);
  EXPECT_EQ(content("etc/bystander"), kAbsent);
  boot();
  EXPECT_EQ(content("etc/bystander"), kAbsent);
  EXPECT_EQ(content("etc/probe.conf"), "one");
}

TEST_F(Generations, HaveTheCommittedPartOfAnInterruptedFirstApply) {
  host.live = true;
  host.spec(std::string(kPlainBystander) + kSleepy);
  apply_and_kill(host);
  boot();
  EXPECT_EQ(content("etc/bystander"), "here\n");
  EXPECT_EQ(content("etc/probe.conf"), kAbsent);
  EXPECT_EQ(in_force(), 1);
}

}  // namespace
}  // namespace slipway
