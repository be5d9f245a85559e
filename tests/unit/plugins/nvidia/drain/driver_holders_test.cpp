// SPDX-License-Identifier: Apache-2.0
// The users of the loaded driver, in a tree of /proc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "nvidia/drain/holders.hpp"

namespace slipway::nvidia::drain {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DriverHolders : public ::testing::Test {
 protected:
  DriverHolders() {
    host_.live("6.1.0-50-amd64").device_major("nvidia", 195).device_major("nvidia-uvm", 508);
    host_.file("/proc/driver/nvidia/gpus/0000:18:00.0/information", "Device Minor: \t 0\n");
  }
  void process(unsigned pid, const std::string& name, const std::string& cgroup,
               const std::vector<std::string>& nodes) {
    const std::string folder = "/proc/" + std::to_string(pid);
    host_.file(folder + "/stat",
               std::to_string(pid) + " (" + name + ") S 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 55 1 2\n");
    host_.file(folder + "/cgroup", "0::" + cgroup + "\n");
    for (std::size_t i = 0; i < nodes.size(); ++i) host_.link(folder + "/fd/" + std::to_string(i + 3), nodes[i]);
  }
  std::vector<std::string> found(const PodHolders& given = {}) { return texts_of(find_driver_holders(host_, given)); }
  FakeHost host_;
};

TEST_F(DriverHolders, AreNamedOnceEachWithUnitContainerOrPod) {
  process(4194311, "trainer", "/system.slice/slurmd.service", {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"});
  const std::string id(64, 'a');
  process(4194312, "worker", "/system.slice/docker-" + id + ".scope", {"/dev/nvidia-uvm"});
  process(4194313, "shell", "/user.slice", {"/dev/null", "/home/user/nvidia0"});
  const auto texts = found();
  ASSERT_EQ(texts.size(), 2U) << ::testing::PrintToString(texts);
  EXPECT_THAT(texts[0], HasSubstr("trainer (pid 4194311, slurmd.service"));
  EXPECT_TRUE(texts[0].ends_with(" on /dev/nvidia0")) << "says more than the node of all: " << texts[0];
  EXPECT_THAT(texts[1], HasSubstr("worker (pid 4194312, "));
  EXPECT_THAT(texts[1], HasSubstr(id.substr(0, 12)));
}

TEST_F(DriverHolders, ArePodsThatKubeletHasGivenAGpu) {
  const PodHolders given{
      .holders = {{"GPU-1", {{.pod_namespace = "team-a", .pod = "train-0", .container = "trainer"}}}}};
  EXPECT_THAT(
      found(given),
      ElementsAre("pod team-a/train-0, container trainer (kubelet gave it the device; no process was found) on GPU-1"));
  EXPECT_THAT(found({.holders = {}, .problem = "kubelet does not answer"}),
              ElementsAre("a pod, perhaps, on the driver: kubelet does not answer"));
}

TEST_F(DriverHolders, AreNotTheUnitsThatAnApplyStops) {
  process(4194314, "nvidia-persiste", "/system.slice/nvidia-persistenced.service", {"/dev/nvidia0"});
  auto holders = find_driver_holders(host_, {});
  EXPECT_EQ(holders.size(), 1U);
  erase_units(host_, {"nvidia-persistenced.service"}, holders);
  EXPECT_THAT(holders, IsEmpty());
}

}  // namespace
}  // namespace slipway::nvidia::drain
