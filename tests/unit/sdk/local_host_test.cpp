// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "random_json.hpp"

namespace slipway {
namespace {

using testing::TempDir;

class LocalHostTest : public ::testing::Test {
 protected:
  std::unique_ptr<Host> offline() { return open({.root = root_.string()}); }
  std::unique_ptr<Host> simulated() { return open({.root = root_.string(), .kernel_view = view_.string()}); }
  static std::unique_ptr<Host> open(const HostConfig& config) {
    Result<std::unique_ptr<Host>> host = open_host(config);
    EXPECT_TRUE(host.ok());
    return std::move(*host);
  }
  void kernel(const std::string& release) { root_.directory("/lib/modules/" + release + "/kernel"); }

  TempDir root_;
  TempDir view_;
};

TEST_F(LocalHostTest, ReadsFilesAndFollowsLinksInside) {
  root_.file("/etc/name", "node-1\n");
  root_.link("/alias", "/etc/name");
  const auto host = offline();
  EXPECT_EQ(*host->read("/alias"), "node-1\n");
  EXPECT_EQ(host->attribute("/alias"), "node-1");
  EXPECT_EQ(*host->resolve("/alias"), "/etc/name");
  EXPECT_EQ(*host->read_link("/alias"), "/etc/name");
  EXPECT_TRUE(host->exists("/alias"));
}

TEST_F(LocalHostTest, NamesThePathThatIsMissing) {
  const auto host = offline();
  for (const Error& error : {host->read("/none").error(), host->info("/none").error(), host->list("/none").error(),
                             host->read_link("/none").error(), host->resolve("/none").error()}) {
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_EQ(error.where, "/none");
  }
  EXPECT_EQ(host->attribute("/none"), "");
  EXPECT_FALSE(host->exists("/none"));
}

TEST_F(LocalHostTest, RefusesAnOversizedFile) {
  root_.file("/long", std::string(100, 'x'));
  EXPECT_EQ(offline()->read("/long", 99).error().code, ErrorCode::invalid);
  EXPECT_EQ(offline()->read("/long", 100)->size(), 100U);
}

TEST_F(LocalHostTest, ReadsAPartOfAFileOfAnyLength) {
  root_.file("/long", std::string(2 << 20, 'x') + "abc");
  const auto host = offline();
  EXPECT_EQ(*host->read_part("/long", (2 << 20) - 1, 3), "xab");
  EXPECT_EQ(*host->read_part("/long", 2 << 20, 100), "abc");
  EXPECT_EQ(*host->read_part("/long", 3 << 20, 1), "");
  EXPECT_EQ(host->read_part("/long", 0, 1 << 20)->size(), 1U << 20);
  EXPECT_EQ(host->read_part("/none", 0, 1).error().code, ErrorCode::not_found);
}

TEST_F(LocalHostTest, DoesNotHangOnAPipeWithoutAWriter) {
  ASSERT_EQ(mkfifo((root_.string() + "/pipe").c_str(), 0600), 0);
  const auto content = offline()->read("/pipe");
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(content.error().code, ErrorCode::invalid) << content.error().what;
  EXPECT_EQ(offline()->info("/pipe")->type, FileInfo::Type::other);
}

TEST_F(LocalHostTest, ReportsWhatAPathIsWithoutFollowingIt) {
  root_.file("/file", "12345");
  chmod(root_.at("/file").c_str(), 04750);
  root_.link("/link", "/file");
  root_.directory("/folder");
  const auto host = offline();
  EXPECT_EQ(host->info("/file")->type, FileInfo::Type::regular);
  EXPECT_EQ(host->info("/file")->mode, 04750U);
  EXPECT_EQ(host->info("/file")->size_bytes, 5U);
  EXPECT_EQ(host->info("/link")->type, FileInfo::Type::symlink);
  EXPECT_EQ(host->info("/folder")->type, FileInfo::Type::directory);
  EXPECT_EQ(host->read_link("/file").error().code, ErrorCode::invalid);
}

TEST_F(LocalHostTest, ReportsTheNumbersOfADeviceNode) {
  view_.directory("/dev");
  if (mknod(view_.at("/dev/gpu").c_str(), S_IFCHR | 0600, makedev(195, 255)) != 0) GTEST_SKIP() << "needs CAP_MKNOD";
  const Result<FileInfo> info = simulated()->info("/dev/gpu");
  EXPECT_EQ(info->type, FileInfo::Type::character_device);
  EXPECT_EQ(info->device_major, 195U);
  EXPECT_EQ(info->device_minor, 255U);
}

TEST_F(LocalHostTest, ListsAFolderInOrder) {
  for (const char* name : {"b", "a", ".hidden", "C"}) root_.file(std::string("/folder/") + name, "");
  EXPECT_EQ(*offline()->list("/folder"), (std::vector<std::string>{".hidden", "C", "a", "b"}));
}

TEST_F(LocalHostTest, ShowsTheKernelsViewBelowSysProcAndDevOnly) {
  root_.file("/sys/x", "root");
  root_.file("/etc/x", "root");
  root_.file("/system/x", "root");
  view_.file("/sys/x", "view");
  view_.file("/etc/x", "view");
  const auto host = simulated();
  EXPECT_TRUE(host->has_kernel_view());
  EXPECT_EQ(*host->read("/sys/x"), "view");
  EXPECT_EQ(*host->read("/etc/../sys/./x"), "view");
  EXPECT_EQ(*host->read("//sys//x"), "view");
  EXPECT_EQ(*host->read("/etc/x"), "root");
  EXPECT_EQ(*host->read("/system/x"), "root");
}

TEST_F(LocalHostTest, HasNothingBelowSysProcAndDevInAnOfflineRoot) {
  root_.file("/dev/nvidia0", "");
  const auto host = offline();
  EXPECT_FALSE(host->has_kernel_view());
  EXPECT_FALSE(host->exists("/dev/nvidia0"));
  EXPECT_EQ(host->list("/sys").error().code, ErrorCode::not_found);
  EXPECT_TRUE(host->pci_devices({}).empty());
}

TEST_F(LocalHostTest, OpensFilesForReadingAndWriting) {
  view_.file("/dev/fake", "");
  EXPECT_TRUE(simulated()->opens("/dev/fake").ok());
  EXPECT_EQ(simulated()->opens("/dev/none").error().code, ErrorCode::not_found);
  EXPECT_FALSE(simulated()->opens("/dev").ok());
}

TEST_F(LocalHostTest, PlansForTheOnlyKernelOfTheRoot) {
  EXPECT_EQ(offline()->kernel_release().error().code, ErrorCode::not_found);
  kernel("6.1.0-50-amd64");
  EXPECT_EQ(*offline()->kernel_release(), "6.1.0-50-amd64");
  EXPECT_EQ(*simulated()->kernel_release(), "6.1.0-50-amd64");
}

TEST_F(LocalHostTest, AsksWhichKernelWhenThereAreSeveral) {
  kernel("6.1.0-50-amd64");
  kernel("6.1.0-56-amd64");
  const Result<std::string> release = offline()->kernel_release();
  EXPECT_EQ(release.error().code, ErrorCode::conflict);
  EXPECT_NE(release.error().what.find("6.1.0-50-amd64, 6.1.0-56-amd64"), std::string::npos);
  EXPECT_NE(release.error().next.find("--kernel 6.1.0-56-amd64"), std::string::npos);
  EXPECT_EQ(*open({.root = root_.string(), .kernel = "6.1.0-50-amd64"})->kernel_release(), "6.1.0-50-amd64");
}

TEST_F(LocalHostTest, PlansForTheNewestOfSeveralKernelsThatAreRequested) {
  kernel("6.1.0-50-amd64");
  EXPECT_TRUE(offline()->asked_kernels().empty());
  const HostConfig config{.root = root_.string(), .kernel = "6.1.0-9-amd64", .further_kernels = {"6.1.0-10-amd64"}};
  EXPECT_EQ(*open(config)->kernel_release(), "6.1.0-10-amd64");
  EXPECT_EQ(open(config)->asked_kernels(), (std::vector<std::string>{"6.1.0-9-amd64", "6.1.0-10-amd64"}));
}

TEST_F(LocalHostTest, FindsKernelsInAMergedUsr) {
  root_.directory("/usr/lib/modules/6.1.0-50-amd64/kernel");
  root_.link("/lib", "usr/lib");
  EXPECT_EQ(offline()->installed_kernels(), std::vector<std::string>{"6.1.0-50-amd64"});
}

TEST_F(LocalHostTest, DoesNotTakeLeftoversForKernels) {
  root_.directory("/lib/modules/6.1.0-47-amd64/updates/dkms");
  EXPECT_TRUE(offline()->installed_kernels().empty());
  root_.file("/lib/modules/6.1.0-48-amd64/modules.dep", "");
  root_.link("/lib/modules/6.1.0-49-amd64/build", "/etc");
  EXPECT_EQ(offline()->installed_kernels(), std::vector<std::string>{"6.1.0-48-amd64"});
  root_.file("/lib/modules/6.1.0-50-amd64/modules.builtin", "");
  EXPECT_EQ(offline()->installed_kernels(), std::vector<std::string>{"6.1.0-50-amd64"});
}

TEST_F(LocalHostTest, PlansForTheRunningKernelWhenLive) {
  kernel("6.1.0-50-amd64");
  view_.file("/proc/sys/kernel/osrelease", "6.1.0-56-amd64\n");
  const auto live = open({.root = root_.string(), .live = true, .kernel_view = view_.string()});
  EXPECT_EQ(*live->kernel_release(), "6.1.0-56-amd64");
  utsname names{};
  uname(&names);
  EXPECT_EQ(*open({.live = true})->kernel_release(), names.release);
}

TEST_F(LocalHostTest, ReportsTheArchitectureOfTheRootFromItsPrograms) {
  std::string header(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  header.resize(18, '\0');
  root_.file("/bin/sh", header + std::string("\xb7\x00", 2) + "rest");
  EXPECT_EQ(offline()->arch(), "aarch64");
  root_.file("/bin/sh", "#!script, no program");
  utsname names{};
  uname(&names);
  EXPECT_EQ(offline()->arch(), names.machine);
}

TEST_F(LocalHostTest, FollowsTheHardwareOption) {
  EXPECT_EQ(offline()->hardware(), "detect");
  EXPECT_EQ(open({.root = root_.string(), .hardware = "assume"})->hardware(), "assume");
}

TEST_F(LocalHostTest, RunsNothingInARootThatIsNotLive) {
  EXPECT_EQ(offline()->run({"true"}, std::chrono::seconds(1)).error().code, ErrorCode::offline);
}

TEST(OpenHost, FailsForARootThatIsNotAFolder) {
  EXPECT_EQ(open_host({.root = "/none"}).error().code, ErrorCode::not_found);
}

TEST(HostConfig, SurvivesTheTripThroughJson) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomJson random(seed);
    const HostConfig config{.root = "/" + random.clean_text(),
                            .live = random.below(2) == 0,
                            .kernel_view = random.clean_text(),
                            .kernel = random.clean_text(),
                            .hardware = random.clean_text(),
                            .further_kernels = {random.clean_text()}};
    EXPECT_EQ(to_json(host_config_from_json(to_json(config))), to_json(config));
  }
  EXPECT_EQ(host_config_from_json(Json::object()).root, "/");
  for (const auto kind :
       {KernelChange::Kind::installed, KernelChange::Kind::without_modules, KernelChange::Kind::removed}) {
    const auto back = host_config_from_json(to_json(HostConfig{.kernel_change = KernelChange{"6.1.0-50-amd64", kind}}));
    ASSERT_TRUE(back.kernel_change);
    EXPECT_EQ(back.kernel_change->release, "6.1.0-50-amd64");
    EXPECT_EQ(back.kernel_change->kind, kind);
  }
  EXPECT_FALSE(host_config_from_json({{"kernel_change", {{"kind", "other"}}}}).kernel_change);
}

}  // namespace
}  // namespace slipway
