// SPDX-License-Identifier: Apache-2.0
// A component whose device is in use: the message of an apply then, and how `apply --wait` tries again.
#include <csignal>

#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::becomes_true;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

/// A live root with a probe whose device is in use while a file exists.
class Waiting : public ::testing::Test {
 protected:
  Waiting() {
    host.live = true;
    host.folder().file("in-use", "");
    host.spec("    probe: {files: {/etc/probe.conf: \"one\\n\"}, custom: waits, marker: " + done +
              ", in_use: " + in_use + "}\n    bystander: {}\n");
  }
  /// Starts an apply that waits, and returns when it says so.
  pid_t start(const std::vector<std::string>& words) const {
    const pid_t child = host.start(words);
    EXPECT_TRUE(becomes_true([&] { return waits(); })) << host.error_text();
    return child;
  }
  bool waits() const { return host.error_text().find("slipway waits until this is over") != std::string::npos; }
  static int end_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Starts a command beside the waiting one, without using its output files.
  pid_t start_beside(std::vector<std::string> words) const {
    words.insert(words.begin(), host.program);
    words.insert(words.end(), {"--live", "--root", host.folder().at("root").string(), "--cache",
                               host.folder().at("cache").string()});
    return testing::spawn(
        {.words = std::move(words),
         .variables = {"SLIPWAY_PLUGIN_PATH=" + host.plugins, "SLIPWAY_LOG_DIR=" + host.folder().at("log").string()},
         .out = host.folder().at("beside").string(),
         .err = host.folder().at("beside").string()});
  }
  int beside(const std::vector<std::string>& words) const { return end_of(start_beside(words)); }
  std::string output() const {
    std::ifstream in(host.folder().at("out"));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  ScratchHost host;
  const std::string in_use = host.folder().at("in-use").string();
  const std::string done = host.folder().at("done").string();
};

TEST_F(Waiting, IsASeparateStateThatNamesTheBlockingProcess) {
  const std::string reason = "the probe's device is in use; held by python3 (pid 7)";
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 3) << apply.out << apply.err;
  EXPECT_THAT(apply.out, HasSubstr("probe: waiting (" + reason + ")"));
  EXPECT_THAT(apply.out, HasSubstr("bystander: changed"));
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("waiting at the last apply: " + reason));
  EXPECT_THAT(host.slipway({"plan"}).out, HasSubstr("it was waiting at the end of the last apply (" + reason + ")"));
  const Json again = Json::parse(host.slipway({"apply", "-o", "json"}).out);
  EXPECT_EQ(again["components"][1]["state"], "waiting") << again;
  EXPECT_EQ(again["components"][1]["reason"], reason);

  std::filesystem::remove(in_use);
  const Ran last = host.slipway({"apply"});
  EXPECT_EQ(last.code, 0) << last.out << last.err;
  EXPECT_TRUE(std::filesystem::exists(done));
  EXPECT_THAT(host.slipway({"status"}).out, Not(HasSubstr("waiting")));
}

TEST_F(Waiting, EndsOnceNoProcessBlocksTheApply) {
  const pid_t child = start({"apply", "--wait", "-o", "json"});
  EXPECT_THAT(host.error_text(), HasSubstr("and applies again: probe: the probe's device is in use; held by python3"));
  std::filesystem::remove(in_use);
  EXPECT_EQ(end_of(child), 0) << host.error_text();
  EXPECT_EQ(Json::parse(output())["components"][1]["state"], "changed") << "one document, of the last apply";
  EXPECT_TRUE(std::filesystem::exists(done));
}

TEST_F(Waiting, LogsOnceHowLongItWaitsAndForWhichProcess) {
  const Ran apply = host.slipway({"apply", "--wait=5s"});
  EXPECT_EQ(apply.code, 3);
  EXPECT_EQ(count_of(apply.err, "slipway waits until this is over"), 1U) << apply.err;
  EXPECT_THAT(apply.err, HasSubstr("and applies again, for 5s at most: probe: "));
  EXPECT_THAT(apply.out, HasSubstr("held by python3 (pid 7); slipway waited 5s, and then gave up)"));
  EXPECT_GE(count_of(host.slipway({"log"}).out, "waiting"), 2U) << "each apply is logged";
}

TEST_F(Waiting, ReadsTheSpecAgain) {
  const pid_t child = start({"apply", "--wait"});
  host.folder().file("new.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n"
                     "  components:\n    bystander: {file: /etc/other}\n");
  std::filesystem::rename(host.folder().at("new.yaml"), host.folder().at("host.yaml"));  // replaced atomically
  EXPECT_EQ(end_of(child), 0) << host.error_text();
  EXPECT_TRUE(std::filesystem::exists(host.path("etc/other")));
  EXPECT_FALSE(std::filesystem::exists(done));
}

TEST_F(Waiting, ReleasesTheLockOfTheRoot) {
  const pid_t child = start({"apply", "--wait=1h"});
  // The waiting command may be applying at the moment (75): that is over soon. The probe waits in the removal too.
  EXPECT_TRUE(becomes_true([&] { return beside({"remove", "bystander"}) == 3; }));
  EXPECT_TRUE(becomes_true([&] {
    return beside({"apply", "--only", "bystander", "-f", host.folder().at("host.yaml").string()}) == 0;
  }));
  std::filesystem::remove(in_use);
  EXPECT_EQ(end_of(child), 0) << host.error_text();
}

TEST_F(Waiting, IsEndedByASignal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const pid_t child = start({"apply", "--wait"});
    ::kill(child, number);
    EXPECT_EQ(end_of(child), 1);
    EXPECT_THAT(host.error_text(), HasSubstr("stopped by a signal"));
  }
  EXPECT_FALSE(std::filesystem::exists(done));
}

TEST_F(Waiting, DoesNotRepeatAFailedApply) {
  host.spec("    probe: {custom: fails, marker: " + done + "}\n");
  const Ran apply = host.slipway({"apply", "--wait"});
  EXPECT_EQ(apply.code, 1) << apply.err;
  EXPECT_THAT(apply.err, Not(HasSubstr("slipway waits")));
}

TEST_F(Waiting, IncludesALockedRoot) {
  const std::string asleep = host.folder().at("asleep").string();
  host.spec("    bystander: {}\n");
  host.folder().file("sleeper.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n"
                     "  components:\n    probe: {files: {/etc/sleeper: x}}\n");
  host.put("etc/probe-hang-in-verify", asleep);
  const pid_t holder = start_beside({"apply", "-f", host.folder().at("sleeper.yaml").string()});
  ASSERT_TRUE(becomes_true([&] { return std::filesystem::exists(asleep); }));
  const Ran locked = host.slipway({"apply", "--wait=1s"});
  EXPECT_EQ(locked.code, 75);
  EXPECT_THAT(locked.err, HasSubstr("another slipway is changing this root; slipway waited 1s, and then gave up"));
  const pid_t child = start({"apply", "--wait"});
  EXPECT_THAT(host.error_text(), HasSubstr("another slipway is changing this root; held by slipway-engine (pid "));
  std::filesystem::remove(host.path("etc/probe-hang-in-verify"));
  ::kill(holder, SIGKILL);
  (void)end_of(holder);
  EXPECT_EQ(end_of(child), 0) << host.error_text();
  EXPECT_TRUE(std::filesystem::exists(host.path("etc/bystander")));
}

TEST_F(Waiting, IsRefusedWhereItHasNoEffectOrNoLength) {
  const auto before = host.tree();
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const Ran ran = host.slipway(words);
    EXPECT_EQ(ran.code, 64) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  for (const std::string text : {"10", "soon", "0s", "-1m", "1.5h", "10 m", "1d", "m", "99999999999h"})
    refused({"apply", "--wait=" + text}, "--wait takes a duration, not '" + text + "'");
  refused({"apply", "--wait="}, "--wait= has no value after the =");
  refused({"apply", "10m", "--wait"}, "write --wait=10m");
  refused({"apply", "--wait", "--dry-run"}, "--dry-run applies nothing that --wait could wait for");
  refused({"apply", "plan.json", "--wait=10m"}, "a saved plan is only applied as it is");
  refused({"rollback", "1", "--wait"}, "unknown option '--wait'");
  EXPECT_EQ(host.tree(), before);
}

}  // namespace
}  // namespace slipway
