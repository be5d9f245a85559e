// SPDX-License-Identifier: Apache-2.0
// Signals in the middle of commands on a simulated machine: each ends them, and nothing is left in the way.
#include <csignal>

#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::becomes_true;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

std::vector<std::string> entries(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

/// A simulated machine on which components hang, and a folder for temporary files.
class Signals : public ::testing::Test {
 protected:
  Signals() {
    host.spec("    probe: {files: {/etc/probe.conf: \"one\\n\"}}\n");
    std::filesystem::create_directories(temporary);
  }
  pid_t start(const std::string& command) const {
    return host.start({command, "--sim", "h100x8", "-f", host.folder().at("host.yaml").string()},
                      {"TMPDIR=" + temporary.string()});
  }
  /// Starts the command, sends the first signal while it works, and the other one until it has ended.
  /// @return how it ended
  int stopped(const std::string& command, int first, int second) const {
    std::filesystem::remove(asleep);
    const pid_t child = start(command);
    EXPECT_TRUE(becomes_true([&] { return std::filesystem::exists(asleep); })) << command;
    EXPECT_FALSE(entries(temporary).empty());
    ::kill(child, first);
    int status = 0;
    EXPECT_TRUE(becomes_true([&] {
      ::kill(child, second);
      return ::waitpid(child, &status, WNOHANG) == child;
    })) << command;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool nothing_is_left() const {
    return becomes_true([&] { return entries(temporary).empty(); });
  }
  ScratchHost host;
  const std::filesystem::path temporary = host.folder().at("tmp");
  const std::filesystem::path asleep = host.folder().at("asleep");
};

// Before the fix, /tmp/slipway-sim-… stayed after every signal.
TEST_F(Signals, LeaveNoTemporaryFolderBehind) {
  host.put("etc/probe-hang-in-detect", asleep.string());
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGKILL})
    for (const std::string command : {"plan", "detect", "apply"}) {
      const int second = command == "apply" && number == SIGHUP ? SIGTERM : number;
      EXPECT_EQ(stopped(command, number, second), 128 + second) << command;
      EXPECT_TRUE(nothing_is_left()) << command << " after signal " << number;
    }
}

TEST_F(Signals, EndAnApplyThatHangsWithTheSecond) {
  host.put("etc/probe-hang-in-verify", asleep.string());
  for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(stopped("apply", first, SIGTERM), 128 + SIGTERM);
    EXPECT_TRUE(nothing_is_left());
  }
  std::filesystem::remove(host.path("etc/probe-hang-in-verify"));
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
}

TEST_F(Signals, AreNotNeededForTheTemporaryFolderToGo) {
  const pid_t child = start("plan");
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(entries(temporary), std::vector<std::string>{}) << "when it has ended, not some time later";
}

// Before the fix, SIGHUP ended an apply with 129, in the middle of its changes.
TEST_F(Signals, FromAClosedTerminalLetTheApplyFinishItsComponent) {
  host.live = true;
  host.spec("    probe: {files: {/new/file: x}, custom: naps, marker: " + host.folder().at("marker").string() +
            "}\n    follower: {}\n");
  const pid_t child = host.start({"apply"});
  ASSERT_TRUE(becomes_true([&] { return std::filesystem::exists(host.path("new/file")); }));
  ::kill(child, SIGHUP);
  ::kill(child, SIGHUP);  // by the kernel, and by the shell
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1) << host.error_text();
  EXPECT_THAT(host.error_text(), HasSubstr("stopped by a signal"));
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/follower")));
  EXPECT_THAT(host.slipway({"status"}).out, ::testing::Not(HasSubstr("cut off")));
}

// Before the fix, each component whose turn had not come reported it again, with the same advice.
TEST_F(Signals, AreReportedOnceForAllSkippedComponents) {
  host.live = true;
  host.spec("    bystander: {naps_until: " + host.folder().at("marker").string() +
            "}\n    probe: {files: {/new/file: x}}\n    follower: {}\n");
  host.folder().file("first.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n"
                     "  components:\n    probe: {files: {/first/file: x}}\n");
  ASSERT_EQ(host.slipway({"apply", "-f", host.folder().at("first.yaml").string()}).code, 0);
  const pid_t child = host.start({"apply"});
  ASSERT_TRUE(becomes_true([&] { return std::filesystem::exists(host.path("etc/bystander")); }));
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 1);
  const std::string output = host.error_text();
  EXPECT_THAT(output, HasSubstr("probe\n"));  // the bystander is one of them if it was undone
  const std::size_t first = output.find("stopped by a signal; not applied: ");
  ASSERT_NE(first, std::string::npos) << output;
  EXPECT_EQ(output.find("stopped by a signal", first + 1), std::string::npos) << output;
  const std::string root = host.folder().at("root").string();
  EXPECT_THAT(output,
              HasSubstr("or `slipway rollback --root " + root + " --live 1` to go back to the previous generation"));
  EXPECT_EQ(host.slipway({"rollback", "1"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(host.path("first/file")));
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/bystander")));
}

}  // namespace
}  // namespace slipway
