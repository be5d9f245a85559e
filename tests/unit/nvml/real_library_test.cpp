// SPDX-License-Identifier: Apache-2.0
// Debian's own libnvidia-ml1 (535.261.03) on a machine without a GPU: the real thing, up to "driver not loaded".
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {
namespace {

namespace fs = std::filesystem;

#ifdef __aarch64__
constexpr const char* kPackagesEnd = "_arm64.deb";
#else
constexpr const char* kPackagesEnd = "_amd64.deb";
#endif

/// The package in the cache of the end-to-end tests (tests/e2e/fetch-debs.sh); empty: it was not fetched here.
fs::path package() {
  const char* named = std::getenv("SLIPWAY_E2E_CACHE");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path folder = named != nullptr   ? fs::path(named)
                          : cache != nullptr ? fs::path(cache) / "slipway-e2e"
                                             : fs::path(home == nullptr ? "/" : home) / ".cache/slipway-e2e";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "debs", ignored))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("libnvidia-ml1_") && name.ends_with(kPackagesEnd))
      return entry.path();
  return {};
}

class RealLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    if (package().empty()) GTEST_SKIP() << "no libnvidia-ml1 package in the cache; see tests/e2e/fetch-debs.sh";
    if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
    const std::string command = "dpkg-deb -x '" + package().string() + "' '" + root_.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  slipway::testing::TempDir root_;
};

TEST_F(RealLibrary, SaysThatTheDriverIsNotLoaded) {
  const auto nvml = Nvml::open({.library = {.driver_root = root_.string()}});
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
