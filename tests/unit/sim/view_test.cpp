// SPDX-License-Identifier: Apache-2.0
#include "sim/view/view.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/local_host.hpp>

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns every path below the folder with its contents: a file's text, a link's target.
std::map<std::string, std::string> tree_of(const fs::path& folder) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto path = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink())
      tree[path] = "-> " + fs::read_symlink(entry.path()).string();
    else
      tree[path] = entry.is_directory() ? "folder" : text_of(entry.path());
  }
  return tree;
}

class SimViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("slipway-sim-view-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(SimViewTest, ShowsEachPciFunctionAsSysfsDoes) {
  const auto view = open_sim_view("h100x8", folder_.string());
  ASSERT_TRUE(view.ok()) << to_text(view.error());
  const fs::path device = folder_ / "sys/bus/pci/devices/0000:18:00.0";
  EXPECT_TRUE(fs::is_symlink(device));
  EXPECT_EQ(fs::read_symlink(device), "../../../devices/pci0000:18/0000:18:00.0");
  EXPECT_EQ(text_of(device / "vendor"), "0x10de\n");
  EXPECT_EQ(text_of(device / "device"), "0x2330\n");
  EXPECT_EQ(text_of(device / "subsystem_vendor"), "0x10de\n");
  EXPECT_EQ(text_of(device / "subsystem_device"), "0x16c1\n");
  EXPECT_EQ(text_of(device / "class"), "0x030200\n");
  EXPECT_EQ(text_of(device / "numa_node"), "0\n");
  EXPECT_EQ(text_of(device / "modalias"), "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00\n");
  EXPECT_FALSE(fs::exists(device / "driver")) << "no driver is bound on a bare machine";
}

// Reading all of it takes the real kernel 25 ms for each GPU, so the tools are measured with a file of that size.
TEST_F(SimViewTest, ShowsTheWholeConfigurationSpaceOfPciExpress) {
  ASSERT_TRUE(open_sim_view("h100x8", folder_.string()).ok());
  EXPECT_EQ(fs::file_size(folder_ / "sys/bus/pci/devices/0000:18:00.0/config"), 4096U);
}

TEST_F(SimViewTest, HasTheAdditionalFilesOfAProfile) {
  SimProfile profile{.name = "mi300", .arch = "x86_64", .kernel_release = "6.1"};
  profile.files["/proc/version"] = "another one\n";
  profile.files["/sys/class/kfd/kfd/topology/nodes/0/gpu_id"] = "7\n";
  profile.file_links["/sys/class/drm/renderD128"] = "../../devices/x";
  profile.nodes["/dev/kfd"] = {235, 0};
  ASSERT_TRUE(write_sim_view(profile, folder_.string()).ok());
  EXPECT_EQ(text_of(folder_ / "proc/version"), "another one\n");
  EXPECT_EQ(text_of(folder_ / "sys/class/kfd/kfd/topology/nodes/0/gpu_id"), "7\n");
  EXPECT_EQ(fs::read_symlink(folder_ / "sys/class/drm/renderD128"), "../../devices/x");
  EXPECT_TRUE(fs::exists(folder_ / "dev/kfd"));
}

TEST_F(SimViewTest, IsVisibleToAPluginsHost) {
  const auto view = open_sim_view("h100x8", folder_.string());
  ASSERT_TRUE(view.ok()) << to_text(view.error());
  const auto host = open_host({.root = folder_.string(), .kernel_view = view->folder});
  ASSERT_TRUE(host.ok()) << to_text(host.error());
  EXPECT_TRUE((*host)->has_kernel_view());
  EXPECT_FALSE((*host)->live());
  const auto gpus = (*host)->pci_devices({.vendor = 0x10de, .base_class = 0x03});
  ASSERT_EQ(gpus.size(), 8U);
  EXPECT_EQ(gpus.front().address, "0000:18:00.0");
  EXPECT_EQ(gpus.front().device, 0x2330);
  EXPECT_EQ(gpus.front().device_class, 0x030200U);
  EXPECT_EQ(gpus.front().driver, "");
  EXPECT_EQ(gpus.back().numa_node, 1);
  EXPECT_EQ((*host)->pci_devices({.vendor = 0x10de, .base_class = 0x06}).size(), 4U);
  EXPECT_FALSE((*host)->module_loaded("nvidia"));
  EXPECT_FALSE((*host)->character_major("nvidia-frontend"));
}

TEST_F(SimViewTest, AnUnknownNumaNodeIsMinusOne) {
  ASSERT_TRUE(open_sim_view("l4x1", folder_.string()).ok());
  EXPECT_EQ(text_of(folder_ / "sys/bus/pci/devices/0000:00:03.0/numa_node"), "-1\n");
}

TEST_F(SimViewTest, ShowsTheKernelOfTheProfileAndNoLoadedModule) {
  const auto view = open_sim_view("gb200x4", folder_.string());
  ASSERT_TRUE(view.ok()) << to_text(view.error());
  EXPECT_EQ(view->arch, "aarch64");
  EXPECT_EQ(view->kernel_release, "6.1.0-50-arm64");
  EXPECT_EQ(text_of(folder_ / "proc/sys/kernel/osrelease"), "6.1.0-50-arm64\n");
  EXPECT_THAT(text_of(folder_ / "proc/version"), HasSubstr("6.1.0-50-arm64"));
  EXPECT_EQ(text_of(folder_ / "proc/modules"), "");
  EXPECT_TRUE(fs::is_empty(folder_ / "sys/module"));
  EXPECT_TRUE(fs::is_empty(folder_ / "dev"));
  EXPECT_FALSE(fs::exists(folder_ / "sys/firmware/efi"));
}

TEST_F(SimViewTest, ShowsModulesMajorsAndSecureBootThatTheProfileNames) {
  const SimProfile profile{.name = "x",
                           .arch = "x86_64",
                           .kernel_release = "6.1",
                           .secure_boot = true,
                           .modules = {{.name = "nvidia", .version = "535.261.03", .size_bytes = 56}},
                           .character_majors = {{195, "nvidia-frontend"}}};
  const auto view = write_sim_view(profile, folder_.string());
  ASSERT_TRUE(view.ok()) << to_text(view.error());
  EXPECT_EQ(text_of(folder_ / "proc/modules"), "nvidia 56 0 - Live 0x0000000000000000\n");
  EXPECT_EQ(text_of(folder_ / "sys/module/nvidia/version"), "535.261.03\n");
  EXPECT_THAT(text_of(folder_ / "proc/devices"), HasSubstr("\n195 nvidia-frontend\n"));
  const auto variable = folder_ / "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  EXPECT_EQ(text_of(variable), std::string("\x06\0\0\0\x01", 5));
}

TEST_F(SimViewTest, ReplacesAnEarlierViewWholly) {
  ASSERT_TRUE(open_sim_view("h100x8", folder_.string()).ok());
  ASSERT_TRUE(open_sim_view("l4x1", folder_.string()).ok());
  const auto replaced = tree_of(folder_);
  fs::remove_all(folder_);
  ASSERT_TRUE(open_sim_view("l4x1", folder_.string()).ok());
  EXPECT_EQ(replaced, tree_of(folder_));
}

TEST_F(SimViewTest, LeavesAFolderAloneThatHoldsSomethingElse) {
  fs::create_directories(folder_ / "sys");
  std::ofstream(folder_ / "sys/mine") << "precious";
  const auto view = open_sim_view("h100x8", folder_.string());
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, ErrorCode::conflict);
  EXPECT_EQ(tree_of(folder_).size(), 2U);
  EXPECT_EQ(text_of(folder_ / "sys/mine"), "precious");
}

TEST_F(SimViewTest, AnUnknownProfileMakesNoFolder) {
  EXPECT_FALSE(open_sim_view("nonsense", folder_.string()).ok());
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(SimViewTest, NamesThePathThatCannotBeWritten) {
  std::ofstream(folder_) << "a file where the folder should be";
  const auto view = open_sim_view("l4x1", folder_.string());
  ASSERT_FALSE(view.ok());
  EXPECT_THAT(view.error().where, HasSubstr(folder_.string()));
}

}  // namespace
}  // namespace slipway::sim
