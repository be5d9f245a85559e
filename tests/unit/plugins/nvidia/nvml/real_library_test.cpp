// SPDX-License-Identifier: Apache-2.0
// Debian's own libnvidia-ml1 (535.261.03) on a machine without a GPU: the real thing, up to "driver not loaded".
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "nvidia/nvml/nvml.hpp"
#include "tests/unit/plugins/nvidia/nvml/real_package.hpp"

namespace slipway::nvidia::nvml {
namespace {

namespace fs = std::filesystem;

class RealLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path package = slipway::testing::real_package("libnvidia-ml1");
    if (package.empty()) GTEST_SKIP() << "no libnvidia-ml1 package in the cache: tests/e2e/fetch-nvidia-programs.sh";
    if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
    const std::string command = "dpkg-deb -x '" + package.string() + "' '" + root_.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  slipway::testing::TempDir root_;
};

// Before the fix, the library, started by root, left /dev/nvidiactl behind on each machine without a GPU.
TEST_F(RealLibrary, SaysThatTheDriverIsNotLoadedAndMakesNoDeviceNode) {
  const bool was_there = fs::exists("/dev/nvidiactl");
  slipway::testing::FakeHost machine;
  machine.live("6.1");
  const auto nvml = Nvml::open({.library = {.driver_root = root_.string(), .machine = &machine}});
  EXPECT_EQ(fs::exists("/dev/nvidiactl"), was_there);
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().code, ErrorCode::not_found);
  EXPECT_THAT(nvml.error().what, ::testing::HasSubstr("NVML_ERROR_DRIVER_NOT_LOADED, 9"));
  EXPECT_THAT(nvml.error().where, ::testing::HasSubstr("libnvidia-ml.so.535.261.03"));
}

TEST_F(RealLibrary, HasTheFunctionsOfItsBranchAndNotThoseOfLaterOnes) {
  const auto library = Library::open({.driver_root = root_.string()});
  ASSERT_TRUE(library.ok()) << to_text(library.error());
  EXPECT_TRUE((*library)->has("nvmlDeviceGetComputeRunningProcesses_v3"));
  EXPECT_TRUE((*library)->has("nvmlDeviceGetGpuFabricInfo"));
  EXPECT_FALSE((*library)->has("nvmlDeviceGetAddressingMode"));
}

}  // namespace
}  // namespace slipway::nvidia::nvml
