// SPDX-License-Identifier: Apache-2.0
// A tool that is started directly behaves and prints like one that is started by slipway.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/gfd/program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Creates a machine that programs find through the environment, as on a host with a driver.
std::string on_machine(const Folder& folder, const std::string& profile) {
  EXPECT_EQ(run(SLIPWAY_SIM_PROGRAM " " + folder.path() + " make " + profile).status, 0);
  const std::string library = run(SLIPWAY_SIM_PROGRAM " library").output;
  return "SLIPWAY_SIM=" + folder.path() + " SLIPWAY_NVML=" + library.substr(0, library.find('\n')) +
         "/libnvidia-ml.so.1 ";
}

TEST(DirectTool, AnswersAsThroughSlipway) {
  const Folder folder;
  const std::string machine = on_machine(folder, "h100x8");
  for (const char* words :
       {"gfd labels --no-timestamp", "gfd labels --help", "gfd devices -o json --node-name n",
        "gfd labels --mig-strategy both", "gfd labels --config-file /nowhere", "gfd paint", "gfd devices -o toml",
        "gfd labels -o json --no-timestamp", "gfd labels -o json --config-file /nowhere",
        "gfd labels --no-timestamp --output /proc/none/x"}) {
    const Ran direct = run(machine + SLIPWAY_PROGRAM " " + words);
    const Ran around = run(machine + SLIPWAY_ENGINE_PROGRAM " " + words);
    EXPECT_EQ(direct.status, around.status) << words;
    EXPECT_EQ(direct.output, around.output) << words;
    EXPECT_EQ(direct.errors, around.errors) << words;
  }
}

TEST(DirectTool, StartsNoProcess) {
  if (run("strace true").status != 0) GTEST_SKIP() << "strace does not work here";
  const Folder folder;
  const std::string machine = on_machine(folder, "t4x4");
  const Ran traced =
      run(machine + "strace -f -e trace=execve,fork,vfork,clone,clone3 " SLIPWAY_PROGRAM " gfd labels --no-timestamp");
  EXPECT_EQ(traced.status, 0);
  EXPECT_THAT(traced.errors, HasSubstr("slipway-worker"));
  EXPECT_THAT(traced.errors, Not(HasSubstr("slipway-engine")));
  EXPECT_THAT(traced.errors, Not(HasSubstr("CLONE_VFORK")));
}

TEST(DirectTool, IsNotRunFromAFileThatOtherUsersMayChange) {
  if (geteuid() != 0) GTEST_SKIP() << "only root is protected from it";
  const Folder folder;
  const std::string plugins = folder.at("plugins");
  ASSERT_EQ(run("mkdir " + plugins + " && cp " GFD_PLUGIN " " + plugins + "/gfd.so && chmod 666 " + plugins + "/gfd.so")
                .status,
            0);
  const Ran ran = run("SLIPWAY_PLUGIN_PATH=" + plugins + " " SLIPWAY_PROGRAM " gfd labels");
  EXPECT_EQ(ran.status, 64);  // as if the file were missing
  EXPECT_EQ(ran.output, "");
}

// Before the fix, the labels were those of a machine without a driver, and the exit status was 0.
TEST(DirectTool, FailsWithAnUntrustedLibrary) {
  if (geteuid() != 0) GTEST_SKIP() << "only root is protected from it";
  const Folder folder;
  ASSERT_EQ(run("mkdir " + folder.at("lib") + " && chmod 777 " + folder.at("lib") + " && touch " +
                folder.at("lib/libnvidia-ml.so.1"))
                .status,
            0);
  const Ran ran = run("SLIPWAY_NVML=" + folder.at("lib/libnvidia-ml.so.1") + " " SLIPWAY_PROGRAM " gfd labels");
  EXPECT_NE(ran.status, 0);
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(ran.errors, HasSubstr("SLIPWAY_NVML"));
}

// A requested but unusable library is an error in each tool that uses the driver.
TEST(DirectTool, FailsWithAMissingOrInvalidLibrary) {
  const Folder folder;
  ASSERT_EQ(run("mkdir -p " + folder.at("lib") + " && echo text > " + folder.at("lib/libnvidia-ml.so.1")).status, 0);
  for (const char* file : {"lib/libnvidia-ml.so.1", "lib/not-there"})
    for (const char* tool :
         {"gfd labels", "gfd devices", "cdi generate", "mig export", "dcgm metrics", "deviceplugin resources"}) {
      const Ran ran = run("SLIPWAY_NVML=" + folder.at(file) + " " SLIPWAY_PROGRAM " " + tool);
      EXPECT_NE(ran.status, 0) << tool;
      EXPECT_EQ(ran.output, "") << tool;
      EXPECT_THAT(ran.errors, HasSubstr(file)) << tool;
    }
}

TEST(DirectTool, FailsWhenItsOutputCannotBeWritten) {
  const Folder folder;
  const Ran ran = run("{ " + on_machine(folder, "t4x4") + SLIPWAY_PROGRAM " gfd labels > /dev/full; }");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("standard output"));
}

}  // namespace
}  // namespace slipway
