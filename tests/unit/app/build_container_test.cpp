// SPDX-License-Identifier: Apache-2.0
// The machines that are recognised as containers: folders as containers and machines show them.
#include "app/build_container.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::app {
namespace {

using slipway::testing::TempDir;

constexpr const char* kAll = "Name:\tslipway\nCapBnd:\t000001ffffffffff\n";        // a machine's own
constexpr const char* kContainer = "Name:\tslipway\nCapBnd:\t00000000a80425fb\n";  // Docker's default
constexpr const char* kEverybody = "         0          0 4294967295\n";
constexpr const char* kRootless = "         0       1000          1\n";

TempDir machine(const std::string& capabilities, const std::string& users) {
  TempDir top;
  top.file("proc/self/status", capabilities);
  top.file("proc/self/uid_map", users);
  top.file("proc/sys/kernel/osrelease", "6.1.0-50-amd64\n");
  return top;
}

TEST(BuildContainer, IsNotAMachineThatRunsSystemd) {
  const TempDir top = machine(kContainer, kRootless);
  EXPECT_FALSE(signs_of_a_build(top.string()).empty());
  top.directory("run/systemd/system");
  EXPECT_TRUE(signs_of_a_build(top.string()).empty());
}

TEST(BuildContainer, IsNotDetectedOnAMachineWithAnotherInit) {
  const TempDir top = machine(kAll, kEverybody);
  top.directory("lib/modules/6.1.0-50-amd64/kernel");
  EXPECT_TRUE(signs_of_a_build(top.string()).empty());
}

TEST(BuildContainer, MayNotLoadModulesAlthoughTheImageHasThoseOfTheRunningKernel) {
  const TempDir top = machine(kContainer, kEverybody);
  top.directory("lib/modules/6.1.0-50-amd64/kernel");
  EXPECT_EQ(signs_of_a_build(top.string()).size(), 2U);
}

TEST(BuildContainer, IsRootlessEvenWithEveryCapability) {
  const TempDir top = machine(kAll, kRootless);
  top.directory("lib/modules/6.1.0-50-amd64/kernel");
  EXPECT_EQ(signs_of_a_build(top.string()).size(), 2U);
}

TEST(BuildContainer, IsPrivilegedWithoutModulesOfTheKernelThatRuns) {
  const TempDir top = machine(kAll, kEverybody);
  top.directory("lib/modules/6.6.1-image/kernel");
  const auto signs = signs_of_a_build(top.string());
  ASSERT_EQ(signs.size(), 2U);
  const Error error = asks_for_image_or_live(signs);
  EXPECT_NE(error.what.find("6.1.0-50-amd64"), std::string::npos);
  EXPECT_NE(error.next.find("--image"), std::string::npos);
  EXPECT_NE(error.next.find("--live"), std::string::npos);
}

constexpr const char* kBoot = "76ea1c2d-b71f-49ee-8d44-c5fb7da72ab4\n";

// Before the fix, every command after `apply --live` asked again.
TEST(BuildContainer, IsNotAMachineThatWasMarkedAsRunning) {
  const TempDir top = machine(kContainer, kEverybody);
  top.file("proc/sys/kernel/random/boot_id", kBoot);
  ASSERT_FALSE(signs_of_a_build(top.string()).empty());
  ASSERT_TRUE(mark_container_running(top.string()));
  EXPECT_TRUE(signs_of_a_build(top.string()).empty());
  std::filesystem::permissions(top.at("run/slipway"), std::filesystem::perms(0777));
  EXPECT_FALSE(signs_of_a_build(top.string()).empty()) << "anybody may have written it";
  std::filesystem::permissions(top.at("run/slipway"), std::filesystem::perms(0755));
  top.file("proc/sys/kernel/random/boot_id", "another\n");
  EXPECT_FALSE(signs_of_a_build(top.string()).empty()) << "that was before the boot";
}

TEST(BuildContainer, IsACopyOfAMachineThatRuns) {
  const TempDir top = machine(kContainer, kEverybody);
  top.file("proc/sys/kernel/random/boot_id", kBoot);
  ASSERT_TRUE(mark_container_running(top.string()));
  const TempDir image;
  std::filesystem::copy(top.string(), image.string(), std::filesystem::copy_options::recursive);
  ASSERT_TRUE(std::filesystem::exists(image.at("run/slipway/live")));
  EXPECT_FALSE(signs_of_a_build(image.string()).empty());
}

// On tmpfs successive roots have the same device and inode numbers.
TEST(BuildContainer, IsACopyThatGotTheNumbersOfTheOriginal) {
  const TempDir top = machine(kContainer, kEverybody);
  top.file("proc/sys/kernel/random/boot_id", kBoot);
  ASSERT_TRUE(mark_container_running(top.string()));
  std::ifstream file(top.at("run/slipway/live"));
  std::string boot;
  std::string numbers;
  std::string inode;
  std::string made;
  file >> boot >> numbers >> inode >> made;
  std::ofstream(top.at("run/slipway/live")) << boot << " " << numbers << " " << inode << " 1 0\n";
  EXPECT_FALSE(signs_of_a_build(top.string()).empty());
}

TEST(BuildContainer, IsNotDecidedWithoutABootId) {
  const TempDir top = machine(kContainer, kEverybody);
  ASSERT_TRUE(mark_container_running(top.string()));
  EXPECT_FALSE(signs_of_a_build(top.string()).empty());
}

}  // namespace
}  // namespace slipway::app
