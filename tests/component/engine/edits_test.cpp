// SPDX-License-Identifier: Apache-2.0
// A kept edit is named by every command, and has two ways out: it is replaced, or it is accepted. Both can be undone.
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConf = "/etc/probe.conf";
constexpr const char* kByHand = "edited by hand\n";

class Edits : public ::testing::Test {
 protected:
  void spec_of(const std::string& content, const std::string& more = "") const {
    host_.spec("    probe: {files: {/etc/probe.conf: " + content + ", /etc/more.conf: more}" + more + "}\n");
  }
  Ran run(const std::vector<std::string>& words, int code) const {
    const Ran ran = host_.slipway(words);
    EXPECT_EQ(ran.code, code) << words.front() << '\n' << ran.out << ran.err;
    return ran;
  }
  /// Creates a user's file, slipway's in its place, and the user's edit of that.
  void edit() const {
    host_.put("etc/probe.conf", "the user's\n");
    spec_of("one");
    run({"apply"}, 0);
    host_.put("etc/probe.conf", kByHand);
  }
  std::string conf() const { return host_.text("etc/probe.conf"); }
  Json json(std::vector<std::string> words, int code) const {
    words.insert(words.end(), {"-o", "json"});
    return Json::parse(run(words, code).out);
  }
  /// Expects that every command names the edit, or none does.
  void expect_kept(bool kept) const {
    EXPECT_EQ(json({"plan"}, 0)["edits"].size(), kept ? 1U : 0U);
    const std::string file = host_.folder().at("host.yaml").string();
    for (const std::string command : {"verify", "doctor"}) {
      const Ran ran = run({command, "-f", file}, kept ? 1 : 0);
      EXPECT_EQ(ran.out.find("keep /etc/probe.conf") != std::string::npos, kept) << ran.out;
    }
    const Json status = json({"status"}, 0)["components"]["probe"];
    EXPECT_EQ(status.contains("edits"), kept) << status;
  }
  void kill_once_it_holds(pid_t child, const std::string& content) const {
    for (int i = 0; i < 600 && conf() != content; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(conf(), content);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  std::string in_force() const { return host_.text("var/lib/slipway/generations/current"); }

  ScratchHost host_;
};

// Before the fix, plan said "Nothing to do", even if verify named an edit.
TEST_F(Edits, AreNamedByPlanWithTheCommandsThatHelp) {
  edit();
  expect_kept(true);
  const Ran plan = run({"plan"}, 0);
  EXPECT_THAT(plan.out, HasSubstr("! keep /etc/probe.conf, which was edited after slipway wrote it"));
  EXPECT_THAT(plan.out, HasSubstr("all is as the spec says, except 1 edit that is kept."));
  const std::string root = " --root " + host_.folder().at("root").string();
  const std::string accept = "slipway accept" + root + " /etc/probe.conf";
  EXPECT_THAT(plan.out, HasSubstr("`" + accept + "`"));
  EXPECT_THAT(run({"verify"}, 1).out, HasSubstr("`" + accept + "`"));
  const Json kept = json({"plan"}, 0)["edits"][0];
  EXPECT_EQ(kept["path"], kConf);
  EXPECT_EQ(kept["component"], "probe");
  EXPECT_EQ(kept["accept"], accept);
  EXPECT_THAT(kept["replace"], HasSubstr("--replace-edits=/etc/probe.conf"));
  EXPECT_THAT(run({"apply"}, 0).out, HasSubstr("is as the spec says, but for 1 edit that is kept"));
}

TEST_F(Edits, AreReplacedOnRequestAndComeBackWithARollback) {
  edit();
  const Ran plan = run({"plan", "--replace-edits"}, 2);
  EXPECT_THAT(plan.out, HasSubstr("+ change /etc/probe.conf (0644), replacing an edit"));
  run({"apply", "--dry-run", "--replace-edits=/etc/probe.conf"}, 2);
  EXPECT_EQ(conf(), kByHand);
  run({"apply", "--replace-edits=/etc/probe.conf"}, 0);
  EXPECT_EQ(conf(), "one");
  EXPECT_EQ(in_force(), "2\n");
  expect_kept(false);
  run({"gc"}, 0);
  EXPECT_THAT(run({"rollback", "1", "--dry-run"}, 2).out, HasSubstr("bring back the edit of /etc/probe.conf"));
  run({"rollback", "1"}, 0);
  EXPECT_EQ(conf(), kByHand);
  expect_kept(true);
  run({"apply"}, 0);
  EXPECT_EQ(conf(), kByHand);
  run({"remove", "--all"}, 0);
  EXPECT_EQ(conf(), kByHand) << "it is a user's, as every edit";
}

TEST_F(Edits, ThatAreReplacedGoWithTheComponent) {
  host_.put("etc/other", "x");
  const auto before = host_.tree();
  spec_of("one");
  run({"apply"}, 0);
  host_.put("etc/probe.conf", kByHand);
  run({"apply", "--replace-edits"}, 0);
  run({"remove", "--all"}, 0);
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(Edits, AreReplacedByName) {
  edit();
  host_.put("etc/more.conf", kByHand);
  run({"apply", "--replace-edits=/etc/more.conf"}, 0);
  EXPECT_EQ(conf(), kByHand);
  EXPECT_EQ(host_.text("etc/more.conf"), "more");
}

TEST_F(Edits, ThatDoNotExistAreNotReplaced) {
  edit();
  const auto before = host_.tree();
  const Ran wrong = run({"apply", "--replace-edits=/etc/prob.conf"}, 1);
  EXPECT_THAT(wrong.err, HasSubstr("/etc/prob.conf has no kept edit"));
  EXPECT_THAT(wrong.err, HasSubstr("did you mean '/etc/probe.conf'?"));
  run({"plan", "--replace-edits=/etc/more.conf"}, 1);
  run({"apply", "--replace-edits=", "--dry-run"}, 64);
  run({"apply", "--replace-edits", "--replace-edits=/etc/probe.conf"}, 64);
  run({"verify", "--replace-edits"}, 64);
  EXPECT_THAT(run({"apply", "/etc/probe.conf", "--replace-edits"}, 1).err,
              HasSubstr("--replace-edits=/etc/probe.conf"));
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(Edits, ComeBackWhenTheApplyThatReplacesThemFails) {
  host_.live = true;
  edit();
  spec_of("two", ", custom: fails");
  run({"apply", "--replace-edits"}, 1);
  EXPECT_EQ(conf(), kByHand);
  EXPECT_EQ(in_force(), "1\n");
  spec_of("one");
  expect_kept(true);
}

// A change that does not work is reverted, and the replaced edit is restored.
TEST_F(Edits, AreRestoredWhenTheReplacementDoesNotWork) {
  edit();
  host_.spec("    probe: {files: {/etc/probe.conf: one, /etc/more.conf: more, /etc/probe-broken: x}}\n");
  run({"apply", "--replace-edits"}, 1);
  EXPECT_EQ(conf(), kByHand);
  EXPECT_EQ(in_force(), "1\n");
}

TEST_F(Edits, ComeBackAfterAKill) {
  host_.live = true;
  edit();
  spec_of("two", ", custom: sleeps");
  kill_once_it_holds(host_.start({"apply", "--replace-edits"}), "two");
  run({"accept", kConf}, 1);
  spec_of("one");
  EXPECT_THAT(run({"apply"}, 0).out, HasSubstr("undone first"));
  EXPECT_EQ(conf(), kByHand);
  expect_kept(true);
}

// The file does not count as edited until the interrupted apply is undone.
TEST_F(Edits, AreReplacedByTheSameCommandAfterAKill) {
  host_.live = true;
  edit();
  spec_of("two", ", custom: sleeps");
  kill_once_it_holds(host_.start({"apply", "--replace-edits=/etc/probe.conf"}), "two");
  spec_of("two");
  run({"apply", "--replace-edits=/etc/probe.conf"}, 0);
  EXPECT_EQ(conf(), "two");
  run({"rollback"}, 0);
  EXPECT_EQ(conf(), kByHand);
}

TEST_F(Edits, AreReplacedStillWhenTheRollbackIsKilled) {
  host_.live = true;
  const std::string marker = host_.folder().at("marker").string();
  host_.folder().file("marker", "");
  spec_of("one", ", custom: sleeps, marker: " + marker);
  run({"apply"}, 0);
  host_.put("etc/probe.conf", kByHand);
  run({"apply", "--replace-edits"}, 0);
  std::filesystem::remove(marker);
  kill_once_it_holds(host_.start({"rollback", "1"}), kByHand);
  host_.folder().file("marker", "");
  run({"apply"}, 0);
  EXPECT_EQ(conf(), "one");
  run({"rollback", "1"}, 0);
  EXPECT_EQ(conf(), kByHand);
}

// A newer edit than the one that was to be replaced.
TEST_F(Edits, MadeJustBeforeTheReplacementAreKept) {
  host_.live = true;
  const std::string marker = host_.folder().at("marker").string();
  host_.spec("    bystander: {naps_until: " + marker + "}\n    probe: {files: {/etc/probe.conf: one}}\n");
  run({"apply"}, 0);
  host_.put("etc/probe.conf", kByHand);
  std::filesystem::remove(marker);
  std::filesystem::remove(host_.path("etc/bystander"));
  const pid_t child = host_.start({"apply", "--replace-edits"});
  for (int i = 0; i < 600 && !std::filesystem::exists(host_.path("etc/bystander")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  host_.put("etc/probe.conf", "another edit\n");
  EXPECT_FALSE(std::filesystem::exists(marker)) << "the edit came too late";
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << host_.error_text();
  EXPECT_EQ(conf(), "another edit\n");
  run({"rollback", "1"}, 0);
  EXPECT_EQ(conf(), "another edit\n");
  EXPECT_EQ(json({"plan"}, 0)["edits"].size(), 1U);
}

TEST_F(Edits, AreReplacedByASavedPlanOnRequest) {
  edit();
  const std::string kept = host_.folder().at("kept.json").string();
  const std::string replaced = host_.folder().at("replaced.json").string();
  host_.folder().file("kept.json", run({"plan", "-o", "json"}, 0).out);
  host_.folder().file("replaced.json", run({"plan", "--replace-edits", "-o", "json"}, 2).out);
  EXPECT_THAT(run({"apply", kept, "--replace-edits"}, 64).err, HasSubstr("was made without --replace-edits"));
  EXPECT_THAT(run({"apply", replaced, "--replace-edits=/etc/probe.conf"}, 64).err, HasSubstr("without a path"));
  run({"apply", kept}, 0);
  EXPECT_EQ(conf(), kByHand);
  host_.put("etc/probe.conf", "another edit\n");
  EXPECT_THAT(run({"apply", replaced}, 1).err, HasSubstr("out of date"));
  EXPECT_EQ(conf(), "another edit\n");
  host_.put("etc/probe.conf", kByHand);
  run({"apply", replaced, "--replace-edits"}, 0);
  EXPECT_EQ(conf(), "one");
}

TEST_F(Edits, BecomeTheNewStateWhenAccepted) {
  edit();
  const auto before = host_.tree();
  EXPECT_THAT(run({"accept", kConf, "--dry-run"}, 2).out, HasSubstr("+ accept /etc/probe.conf as it is"));
  EXPECT_EQ(host_.tree(), before);
  EXPECT_EQ(json({"accept", kConf}, 0)["generation"], 2);
  expect_kept(false);
  EXPECT_THAT(run({"status"}, 0).out, HasSubstr("accepted edits: /etc/probe.conf"));
  EXPECT_THAT(run({"apply"}, 0).out, HasSubstr("Nothing to do"));
  EXPECT_EQ(conf(), kByHand);
  spec_of("one", ", greeting: hi");
  run({"apply"}, 0);
  host_.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  run({"apply"}, 0);
  EXPECT_EQ(conf(), kByHand);
  expect_kept(false);
  host_.put("etc/probe.conf", "another edit\n");
  expect_kept(true);
  host_.put("etc/probe.conf", kByHand);
  run({"remove", "--all"}, 0);
  EXPECT_EQ(conf(), "the user's\n");
}

TEST_F(Edits, ThatWereAcceptedAreKeptWhenTheSpecAsksForSomethingElse) {
  edit();
  run({"accept", kConf}, 0);
  spec_of("two");
  run({"apply"}, 0);
  EXPECT_EQ(conf(), kByHand);
  expect_kept(true);
}

TEST_F(Edits, ThatWereAcceptedAreEditsAgainAfterARollback) {
  edit();
  run({"accept", kConf}, 0);
  run({"rollback", "1"}, 0);
  EXPECT_EQ(conf(), kByHand);
  expect_kept(true);
  run({"rollback", "2"}, 0);
  expect_kept(false);
}

TEST_F(Edits, ThatDoNotExistAreNotAccepted) {
  EXPECT_THAT(run({"accept", kConf}, 1).err, HasSubstr("no generation is active"));
  edit();
  const auto before = host_.tree();
  EXPECT_THAT(run({"accept"}, 64).err, HasSubstr("accept which edits?"));
  EXPECT_THAT(run({"accept", "/etc/prob.conf"}, 1).err, HasSubstr("slipway does not own /etc/prob.conf"));
  EXPECT_THAT(host_.error_text(), HasSubstr("did you mean '/etc/probe.conf'?"));
  EXPECT_THAT(run({"accept", kConf, "/etc/more.conf"}, 1).err, HasSubstr("/etc/more.conf has no kept edit"));
  EXPECT_EQ(host_.tree(), before);
}

TEST_F(Edits, OfAUnitStayAcceptedWhenItsLinksAreMadeAgain) {
  const std::string unit = "etc/systemd/system/acme.service";
  host_.spec(R"(    probe: {units: {acme.service: "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=a.target\n"}})"
             "\n");
  run({"apply"}, 0);
  const std::string edited = host_.text(unit) + "# by hand\n";
  host_.put(unit, edited);
  run({"accept", "/" + unit}, 0);
  const auto link = host_.path("etc/systemd/system/a.target.wants/acme.service");
  std::filesystem::remove(link);
  run({"apply"}, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(host_.text(unit), edited);
  EXPECT_EQ(in_force(), "2\n");
  EXPECT_EQ(json({"plan"}, 0)["edits"].size(), 0U);
  run({"verify"}, 0);
  run({"rollback", "1"}, 0);
  run({"apply", "--replace-edits=/" + unit}, 0);
  EXPECT_THAT(host_.text(unit), Not(HasSubstr("by hand")));
}

// Before the fix, the record of the file had the content of the previous generation.
TEST_F(Edits, AreAcceptedAfterAnUpgradeThatKeptThem) {
  edit();
  spec_of("two");
  run({"apply"}, 0);
  EXPECT_EQ(conf(), kByHand);
  run({"accept", kConf}, 0);
  expect_kept(false);
}

// Before the fix, verify named it forever, and plan had nothing to do.
TEST_F(Edits, OfFilesOutsideTheSpecBelongToTheUser) {
  edit();
  host_.spec("    probe: {files: {/etc/more.conf: more}}\n");
  EXPECT_THAT(run({"plan"}, 0).out, HasSubstr("! keep, because it was changed since"));
  run({"apply", "--replace-edits=/etc/probe.conf"}, 1);
  run({"apply"}, 0);
  EXPECT_EQ(conf(), kByHand);
  expect_kept(false);
}

// After a kill the acceptance is complete, or missing.
TEST_F(Edits, AreAcceptedByOneRename) {
  if (std::system("strace true 2> /dev/null") != 0) GTEST_SKIP() << "strace does not work here";
  edit();
  const std::string program = host_.program;
  const std::string calls = "renameat,renameat2";
  for (int at = 1; in_force() == "1\n"; ++at) {
    ASSERT_LT(at, 20);
    host_.folder().file(
        "cut", "#!/bin/sh\nexport ASAN_OPTIONS=detect_leaks=0\nexec strace -f -qq -o /dev/null -e trace=" + calls +
                   " -e inject=" + calls + ":signal=KILL:when=" + std::to_string(at) + " '" + program + "' \"$@\"\n");
    std::filesystem::permissions(host_.folder().at("cut"), std::filesystem::perms(0755));
    host_.program = host_.folder().at("cut").string();
    host_.slipway({"accept", kConf});
    host_.program = program;
    expect_kept(in_force() == "1\n");
  }
  EXPECT_EQ(conf(), kByHand);
}

class EditsOfKeys : public Edits {
 protected:
  static std::string keys(const std::string& more) {
    return "    probe: {merges: {/etc/engine.toml: '{\"root\": \"/data\"" + more + "}'}}\n";
  }
  void edit_key() const {
    host_.put("etc/engine.toml", "root = \"/var\"\n# mine\n");
    host_.spec(keys(""));
    run({"apply"}, 0);
    host_.put("etc/engine.toml", "root = \"/srv\"\n# mine\n");
  }
  std::string engine() const { return host_.text("etc/engine.toml"); }
};

// Before the fix, the edit was reported as a defect of the plugin, and nothing was applied.
TEST_F(EditsOfKeys, AreKeptWhileOtherKeysAreSet) {
  edit_key();
  host_.spec(keys(", \"state\": \"/run\""));
  const Ran plan = run({"plan"}, 2);
  EXPECT_THAT(plan.out, HasSubstr("keep root, edited after slipway wrote the file"));
  EXPECT_THAT(plan.out, HasSubstr("--replace-edits=/etc/engine.toml"));
  run({"apply"}, 0);
  EXPECT_THAT(engine(), HasSubstr("root = \"/srv\""));
  EXPECT_THAT(engine(), HasSubstr("state = \"/run\""));
  EXPECT_EQ(json({"plan"}, 0)["edits"][0]["path"], "/etc/engine.toml");
}

TEST_F(EditsOfKeys, AreReplacedAndComeBack) {
  edit_key();
  run({"apply", "--replace-edits"}, 0);
  EXPECT_EQ(engine(), "root = \"/data\"\n# mine\n");
  run({"rollback", "1"}, 0);
  EXPECT_EQ(engine(), "root = \"/srv\"\n# mine\n");
  EXPECT_EQ(json({"plan"}, 0)["edits"].size(), 1U);
}

TEST_F(EditsOfKeys, AreAcceptedAndGoWithTheComponent) {
  edit_key();
  run({"accept", "/etc/engine.toml"}, 0);
  EXPECT_EQ(json({"plan"}, 0)["edits"].size(), 0U);
  run({"verify"}, 0);
  run({"remove", "--all"}, 0);
  EXPECT_EQ(engine(), "root = \"/var\"\n# mine\n");
}

TEST_F(EditsOfKeys, OfAKeyThatIsGoneAreReplacedAndAccepted) {
  edit_key();
  host_.put("etc/engine.toml", "# mine\n");
  run({"accept", "/etc/engine.toml"}, 0);
  EXPECT_EQ(json({"plan"}, 0)["edits"].size(), 0U);
  run({"rollback", "1"}, 0);
  run({"apply", "--replace-edits"}, 0);
  EXPECT_THAT(engine(), HasSubstr("root = \"/data\""));
}

}  // namespace
}  // namespace slipway
