// SPDX-License-Identifier: Apache-2.0
// slipway-worker --tool: a plugin's tool without slipway around it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "core/worker/client/spawn.hpp"
#include "tests/unit/core/worker/worker_fixture.hpp"

namespace slipway::core {
namespace {

struct Ran {
  int status = -1;  ///< 128 and the signal's number when one ended it
  std::string output;
};

Ran run_tool(const std::string& words) {
  const std::string command =
      worker_program(true).value() + " --tool " SLIPWAY_TEST_PLUGINS "/stranger.so stranger " + words + " 2>&1";
  FILE* pipe = popen(("exec " + command).c_str(), "r");
  Ran ran;
  std::array<char, 4096> part{};
  while (const std::size_t got = fread(part.data(), 1, part.size(), pipe)) ran.output.append(part.data(), got);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

TEST(WorkerProgram, OfTheEnvironmentIsRefusedWhereAnotherUserCouldReplaceIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const slipway::testing::TempDir folder;
  folder.link("theirs/worker", worker_program(true).value());
  ASSERT_EQ(setenv("SLIPWAY_WORKER", folder.at("theirs/worker").c_str(), 1), 0);
  const auto before = worker_program(true);
  ASSERT_EQ(::chown(folder.at("theirs").c_str(), 1000, 1000), 0);
  const auto after = worker_program(true);
  const auto ignored = worker_program(false);
  unsetenv("SLIPWAY_WORKER");
  ASSERT_TRUE(before.ok()) << to_text(before.error());
  EXPECT_EQ(*before, std::filesystem::canonical(*worker_program(true)).string()) << "what was looked at is what runs";
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().code, ErrorCode::denied);
  EXPECT_NE(after.error().what.find("SLIPWAY_WORKER="), std::string::npos) << after.error().what;
  EXPECT_TRUE(ignored.ok());
}

TEST(DirectTool, PrintsAndEndsAsTheToolSays) {
  const Ran ran = run_tool("greet Ada");
  EXPECT_EQ(ran.status, 7);
  EXPECT_EQ(ran.output, "hello Ada\n");
}

TEST(DirectTool, HasNoCoreToAsk) { EXPECT_EQ(run_tool("ask slow").output, "unsupported"); }

TEST(DirectTool, NamesTheToolsThatExist) {
  const Ran ran = run_tool("paint");
  EXPECT_EQ(ran.status, 64);
  EXPECT_NE(ran.output.find("its tools are greet, ask, linger"), std::string::npos) << ran.output;
}

TEST(DirectTool, HasItsWordsReadByItsTable) {
  const Ran wrong = run_tool("greet Ada --loud");
  EXPECT_EQ(wrong.status, 64);
  EXPECT_NE(wrong.output.find("unknown option '--loud'"), std::string::npos) << wrong.output;
  EXPECT_NE(run_tool("greet").output.find("a word is missing: slipway stranger greet NAME"), std::string::npos);
  const Ran help = run_tool("greet --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_TRUE(help.output.starts_with("Usage: slipway stranger greet NAME\n\nSays hello.\n")) << help.output;
}

// Before the fix, the library was unloaded while its threads were still running.
TEST(DirectTool, EndsWellWhileThreadsOfThePluginRunOn) {
  for (int i = 0; i < 40; ++i) EXPECT_EQ(run_tool("linger").status, 7);
}

}  // namespace
}  // namespace slipway::core
