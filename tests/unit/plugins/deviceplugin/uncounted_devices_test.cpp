// SPDX-License-Identifier: Apache-2.0
// Devices that pods have and kubelet counts as free: after the sharing changed under them, or from another plugin.
#include "deviceplugin/allocation/uncounted_devices.hpp"

#include <gmock/gmock.h>

#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::gpus;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mig_gpu;
using ::testing::Not;
using testing::resources_of;
using ::testing::SizeIs;

constexpr const char* kName = "nvidia.com/gpu";
constexpr const char* kShared = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}";

Allocation has(const std::string& pod, const std::string& id, const std::string& resource = kName) {
  return {.pod_namespace = "team", .pod = pod, .container = "main", .resource = resource, .id = id};
}

Resources offered(const std::vector<Gpu>& all, const std::string& config = "{}") {
  return resources_of(all, config).value_or({});
}

// Before the fix, replicas were taken back under running pods, and an exclusive pod got a GPU that another pod still
// shared.
TEST(UncountedUses, AreReplicasThatWereRemoved) {
  const auto all = gpus(3);
  const Resources resources = offered(all);
  EXPECT_THAT(
      uncounted_uses(resources.at(kName), all, {has("s1", "GPU-0::2"), has("s2", "GPU-0::3"), has("e", "GPU-1")}),
      ElementsAre(2U, 0U, 0U));
}

TEST(UncountedUses, AreWholeGpusThatAreSharedNow) {
  const auto all = gpus(2);
  const Resources resources = offered(all, kShared);
  EXPECT_THAT(uncounted_uses(resources.at(kName), all, {has("e", "GPU-1"), has("s", "GPU-0::3")}), ElementsAre(0U, 1U));
}

TEST(UncountedUses, AreReplicasBeyondTheNewNumber) {
  const auto all = gpus(2);
  const Resources resources =
      offered(all, "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}");
  EXPECT_THAT(uncounted_uses(resources.at(kName), all, {has("a", "GPU-0::1"), has("b", "GPU-0::3")}),
              ElementsAre(1U, 0U));
}

// Time-slicing and MPS have the same ids.
TEST(UncountedUses, AreMpsUsesOfGpusThatAreTimeSlicedNow) {
  const auto all = gpus(1);
  Allocation client = has("a", "GPU-0::1");
  client.mps = true;
  EXPECT_THAT(uncounted_uses(offered(all, kShared).at(kName), all, {client}), ElementsAre(1U));
}

TEST(UncountedUses, AreUsesOfAnotherPluginsResource) {
  const auto all = gpus(2);
  EXPECT_THAT(
      uncounted_uses(offered(all).at(kName), all,
                     {has("sh1", "GPU-1::7", "nvidia.com/gpu.shared"), has("other", "GPU-9"), has("x", "disk-1")}),
      ElementsAre(0U, 1U));
}

TEST(UncountedUses, OfMigDevicesIncludeThoseOfTheWholeGpu) {
  const std::vector<Gpu> all{mig_gpu(0, {"1g.10gb", "1g.10gb"})};
  const Resources resources = offered(all, "flags: {migStrategy: mixed}");
  const Resource& mig = resources.at("nvidia.com/mig-1g.10gb");
  EXPECT_THAT(uncounted_uses(mig, all, {has("a", "MIG-0-1", "nvidia.com/mig-1g.10gb")}), ElementsAre(0U, 0U));
  EXPECT_THAT(uncounted_uses(mig, all, {has("a", "MIG-0-1::0", "nvidia.com/mig-1g.10gb.shared")}), ElementsAre(0U, 1U));
  EXPECT_THAT(uncounted_uses(mig, all, {has("a", "GPU-0")}), ElementsAre(1U, 1U));
}

TEST(SharingConflicts, NameTheGpuThePodsAndTheRemedy) {
  const auto all = gpus(2);
  const auto found =
      sharing_conflicts(offered(all), all, {has("s1", "GPU-0::2"), has("e1", "GPU-0"), has("e2", "GPU-1")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].text,
            "GPU 0 (0000:00:00.0) is offered for exclusive use as nvidia.com/gpu, but pod team/s1 shares it "
            "(nvidia.com/gpu); kubelet has given it to pod team/e1 as well");
  EXPECT_THAT(found[0].pods, ElementsAre("team/s1"));
  EXPECT_EQ(found[0].gpu, "GPU-0");
  EXPECT_THAT(found[0].remedy, AllOf(HasSubstr("`kubectl delete pod -n team s1`"),
                                     HasSubstr("new pods get this device only when no other is free")));
}

TEST(SharingConflicts, NameAPodThatHasAGpuForItself) {
  const auto all = gpus(2);
  const auto found = sharing_conflicts(offered(all, kShared), all, {has("e1", "GPU-1")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].text,
            "GPU 1 (0000:01:00.0) is offered to 4 containers as nvidia.com/gpu (time-slicing), but pod team/e1 has it "
            "for itself (nvidia.com/gpu)");
}

TEST(SharingConflicts, AreEmptyWhenKubeletCountsAllUses) {
  const auto all = gpus(2);
  EXPECT_THAT(sharing_conflicts(offered(all, kShared), all, {has("a", "GPU-0::0"), has("b", "GPU-0::1")}), IsEmpty());
}

TEST(AllocationsOnGpus, IncludeEveryResource) {
  const auto found =
      allocations_on(gpus(1), {has("a", "GPU-0", "acme.com/gpu"), has("b", "nvidia0/vgpu1"), has("c", "GPU-7")});
  EXPECT_THAT(found, SizeIs(2));
}

}  // namespace
}  // namespace slipway::deviceplugin
