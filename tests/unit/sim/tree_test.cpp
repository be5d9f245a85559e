// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sim/view/driver.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::sim {
namespace {

using ::testing::HasSubstr;

class SimTree : public SimTest {
 protected:
  std::string text(const std::string& path) const {
    std::ifstream in(root_.at(path), std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  }
  bool existing(const std::string& path) const { return std::filesystem::exists(root_.at(path)); }
  int write(const std::string& profile) { return tool("tree " + profile + " '" + root_.string() + "'"); }
  slipway::testing::TempDir root_;
};

TEST_F(SimTree, ShowsTheDriverAsTheKernelWould) {
  make("h100x2,driver=550.90.07");
  root_.file("etc/hostname", "node\n");  // a root that contains other files
  ASSERT_EQ(write("h100x2"), 0);
  EXPECT_EQ(text("sys/module/nvidia/version"), "550.90.07\n");
  EXPECT_THAT(text("proc/devices"), HasSubstr("195 nvidia\n"));
  EXPECT_THAT(text("proc/driver/nvidia/version"), HasSubstr("550.90.07"));
  EXPECT_THAT(text("proc/driver/nvidia/gpus/0000:2a:00.0/information"), HasSubstr("Device Minor: \t 1\n"));
  EXPECT_THAT(text("proc/driver/nvidia-caps/mig-minors"), HasSubstr("gpu31/gi14/ci7/access 4322\n"));
  EXPECT_TRUE(existing("sys/bus/pci/devices/0000:18:00.0/driver/0000:18:00.0/vendor"));  // by its links
  EXPECT_TRUE(existing("dev/nvidia1"));
  EXPECT_FALSE(existing("dev/nvidia2"));
  EXPECT_EQ(text("etc/hostname"), "node\n");
}

TEST_F(SimTree, FollowsTheMigInstances) {
  make("h100x2,driver=550.90.07,mig=3g.40gb");
  ASSERT_EQ(write("h100x2"), 0);
  EXPECT_EQ(text("proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci0/access"),
            "DeviceFileMinor: 22\nDeviceFileMode: 292\nDeviceFileModify: 1\n");
  EXPECT_TRUE(existing("dev/nvidia-caps/nvidia-cap22"));
  ASSERT_EQ(tool("gpu 0 mig on"), 0);  // takes the instances
  ASSERT_EQ(write("h100x2"), 0);
  EXPECT_FALSE(existing("proc/driver/nvidia/capabilities/gpu0/mig/gi2"));
  EXPECT_TRUE(existing("proc/driver/nvidia/capabilities/gpu1/mig/gi2"));
}

// Within one command, while an apply changes them.
TEST_F(SimTree, ShowsTheInstancesThatExistByNow) {
  make("h100x2,driver=550.90.07,mig=3g.40gb");
  ASSERT_EQ(write("h100x2"), 0);
  const auto untouched = std::filesystem::last_write_time(root_.at("dev/nvidia-caps/nvidia-cap22"));
  ASSERT_EQ(tool("gpu 1 mig on"), 0);  // takes the instances
  const auto machine = read_sim_machine(folder_.string());
  ASSERT_TRUE(machine);
  ASSERT_TRUE(follow_sim_instances(**machine, root_.string()));
  EXPECT_TRUE(existing("proc/driver/nvidia/capabilities/gpu0/mig/gi2/ci0/access"));
  EXPECT_FALSE(existing("proc/driver/nvidia/capabilities/gpu1/mig/gi2"));
  EXPECT_FALSE(existing("dev/nvidia-caps/nvidia-cap157"));
  EXPECT_EQ(std::filesystem::last_write_time(root_.at("dev/nvidia-caps/nvidia-cap22")), untouched);
  make("h100x2,driver=550.90.07,mig=3g.40gb");
  ASSERT_TRUE(follow_sim_instances(**read_sim_machine(folder_.string()), root_.string()));
  EXPECT_TRUE(existing("proc/driver/nvidia/capabilities/gpu1/mig/gi2/ci0/access"));
  EXPECT_TRUE(existing("dev/nvidia-caps/nvidia-cap157"));
}

TEST_F(SimTree, HasNodesWithTheKernelsNumbers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root makes device nodes";
  make("t4x4");
  ASSERT_EQ(write("t4x4"), 0);
  struct stat status {};
  ASSERT_EQ(stat(root_.at("dev/nvidia3").c_str(), &status), 0);
  if (!S_ISCHR(status.st_mode)) GTEST_SKIP() << "this machine lets nobody make device nodes";
  EXPECT_EQ(status.st_rdev, makedev(195, 3));
  EXPECT_EQ(status.st_mode & 0777U, 0666U);
}

}  // namespace
}  // namespace slipway::sim
