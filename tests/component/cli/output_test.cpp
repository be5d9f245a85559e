// SPDX-License-Identifier: Apache-2.0
// Output that could not be written: a command whose results are lost does not succeed.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

/// Returns commands that print a result, and components' tools.
std::vector<std::vector<std::string>> printing(const DriverRoot& root) {
  const std::string spec = root.folder().at("host.yaml").string();
  const std::vector<std::string> on{"--root", root.path("").string(), "--sim", "h100x8"};
  const auto on_machine = [&](std::vector<std::string> words) {
    words.insert(words.end(), on.begin(), on.end());
    return words;
  };
  return {{"version"},
          {"--help"},
          {"plan", "--help"},
          {"explain"},
          {"explain", "driver"},
          {"completion", "bash"},
          {"completion", "man"},
          {"plugin", "list", "-o", "json"},
          {"log"},
          on_machine({"init"}),
          on_machine({"detect", "-f", spec}),
          on_machine({"plan", "-f", spec, "-o", "json"}),
          on_machine({"apply", "-f", spec}),
          on_machine({"verify"}),
          on_machine({"doctor", "-o", "jsonl"}),
          on_machine({"status", "-o", "json"}),
          on_machine({"graph"}),
          on_machine({"gc"}),
          {"gfd", "labels", "--help"},
          {"gfd", "labels", "--no-timestamp", "--sim", "h100x8"},
          {"toolkit", "cdi", "list", "--help"},
          {"driver", "build", "--help"}};
}

/// Runs the command with its output redirected by a shell. @param before  shell commands to run first
Ran redirected(const DriverRoot& root, const std::string& redirection, const std::vector<std::string>& words,
               const std::string& before = "") {
  ScratchHost shell;
  shell.program = "/bin/sh";
  std::vector<std::string> call{"-c",
                                before + "exec \"$@\" " + redirection,
                                "sh",
                                "env",
                                "SLIPWAY_LOG_DIR=" + root.folder().at("log").string(),
                                root.program};
  call.insert(call.end(), words.begin(), words.end());
  return shell.bare(call);
}

// Before the fix, `plan -o json > /dev/full` exited with 2, `init` and `version` with 0.
TEST(StandardOutput, ThatIsFullMakesEveryCommandFail) {
  const DriverRoot root;
  for (const auto& words : printing(root)) {
    const Ran ran = redirected(root, "> /dev/full", words);
    EXPECT_EQ(ran.code, 1) << ::testing::PrintToString(words) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("standard output")) << ::testing::PrintToString(words);
    EXPECT_THAT(ran.err, HasSubstr("No space left on device")) << ::testing::PrintToString(words);
  }
}

TEST(StandardOutput, ThatIsClosedMakesEveryCommandFailAndGoesToNoOtherFile) {
  const DriverRoot root;
  for (const auto& words : printing(root)) {
    const Ran ran = redirected(root, ">&-", words);
    EXPECT_EQ(ran.code, 1) << ::testing::PrintToString(words) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("standard output")) << ::testing::PrintToString(words);
  }
  EXPECT_EQ(root.run({"verify", "--deep"}).code, 0) << "the apply was whole, and nothing else was written to";
}

/// Runs the command with its output to a pipe without a reader.
Ran unread(const DriverRoot& root, const std::vector<std::string>& words) {
  const std::string pipe = root.folder().at("pipe").string();
  return redirected(root, ">&4", words,
                    "mkfifo " + pipe + "; exec 3<> " + pipe + " 4> " + pipe + " 3>&-; rm " + pipe + "; ");
}

TEST(StandardOutput, WithoutAReaderIsAnErrorWithAMessage) {
  const DriverRoot root;
  for (const auto& words : {std::vector<std::string>{"completion", "bash"}, {"gfd", "labels", "--help"}}) {
    const Ran ran = unread(root, words);
    EXPECT_EQ(ran.code, 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("Broken pipe"));
  }
}

TEST(StandardOutput, WithoutAReaderDoesNotInterruptAnApply) {
  const DriverRoot root;
  const std::vector<std::string> on{
      "-f", root.folder().at("host.yaml").string(), "--root", root.path("").string(), "--sim", "h100x8"};
  for (const auto& [command, form] : {std::pair{"plan", "json"}, {"plan", "jsonl"}, {"apply", "jsonl"}}) {
    std::vector<std::string> words{command, "-o", form};
    words.insert(words.end(), on.begin(), on.end());
    const Ran ran = unread(root, words);
    EXPECT_EQ(ran.code, 1) << command << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("Broken pipe")) << command;
  }
  EXPECT_EQ(root.run({"verify", "--deep"}).code, 0) << "all of it was applied";
  const Ran status = root.run({"status"});
  EXPECT_THAT(status.out, HasSubstr("Generation 1 is active"));
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("cut off")));
  EXPECT_EQ(root.run({"plan"}).code, 0);
}

}  // namespace
}  // namespace slipway
