// SPDX-License-Identifier: Apache-2.0
// slipway-worker --tool: a plugin's tool without slipway around it.
#include <array>
#include <cstdio>

#include <sys/wait.h>

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

TEST(DirectTool, PrintsAndEndsAsTheToolSays) {
  const Ran ran = run_tool("greet Ada");
  EXPECT_EQ(ran.status, 7);
  EXPECT_EQ(ran.output, "hello Ada\n");
}

TEST(DirectTool, HasNoCoreToAsk) { EXPECT_EQ(run_tool("ask slow").output, "unsupported"); }

TEST(DirectTool, NamesTheToolsThatThereAre) {
  const Ran ran = run_tool("paint");
  EXPECT_EQ(ran.status, 64);
  EXPECT_NE(ran.output.find("its tools are greet, ask, linger"), std::string::npos) << ran.output;
}

// The library was unloaded first, under the feet of its threads.
TEST(DirectTool, EndsWellWhileThreadsOfThePluginRunOn) {
  for (int i = 0; i < 40; ++i) EXPECT_EQ(run_tool("linger").status, 7);
}

}  // namespace
}  // namespace slipway::core
