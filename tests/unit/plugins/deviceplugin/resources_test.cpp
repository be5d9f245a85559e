// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using testing::gpu;
using testing::gpus;
using ::testing::HasSubstr;
using testing::mig_gpu;
using testing::resources_of;
using testing::text_of;

TEST(Resources, WholeGpusAreOneResource) {
  EXPECT_EQ(text_of(resources_of(gpus(3), "")), "nvidia.com/gpu: GPU-0 GPU-1 GPU-2\n");
}

TEST(Resources, MixedGivesEachProfileItsOwn) {
  const std::vector<Gpu> machine{gpu(0), mig_gpu(1, {"1g.10gb", "1g.10gb", "1g.10gb+me", "3g.40gb"})};
  EXPECT_EQ(text_of(resources_of(machine, "mig: {strategy: mixed}")),
            "nvidia.com/gpu: GPU-0\n"
            "nvidia.com/mig-1g.10gb: MIG-1-0 MIG-1-1\n"
            "nvidia.com/mig-1g.10gb.me: MIG-1-2\n"
            "nvidia.com/mig-3g.40gb: MIG-1-3\n");
}

TEST(Resources, SingleCallsMigDevicesGpusWhenTheyAreAllAlike) {
  const std::vector<Gpu> alike{mig_gpu(0, {"3g.40gb", "3g.40gb"}), mig_gpu(1, {"3g.40gb", "3g.40gb"})};
  EXPECT_EQ(text_of(resources_of(alike, "mig: {strategy: single}")),
            "nvidia.com/gpu: MIG-0-0 MIG-0-1 MIG-1-0 MIG-1-1\n");
  EXPECT_EQ(text_of(resources_of(gpus(1), "mig: {strategy: single}")), "nvidia.com/gpu: GPU-0\n");
  EXPECT_THAT(text_of(resources_of({gpu(0), mig_gpu(1, {"3g.40gb"})}, "mig: {strategy: single}")),
              HasSubstr("same MIG mode"));
  EXPECT_THAT(text_of(resources_of({mig_gpu(0, {"1g.10gb"}), mig_gpu(1, {"3g.40gb"})}, "mig: {strategy: single}")),
              HasSubstr("GPU 1 (0000:01:00.0) has a 3g.40gb, GPU 0 (0000:00:00.0) a 1g.10gb"));
}

TEST(Resources, NoneOffersAGpuInMigModeWhole) {
  EXPECT_EQ(text_of(resources_of({mig_gpu(0, {"1g.10gb"})}, "")), "nvidia.com/gpu: GPU-0\n");
}

TEST(Resources, AnotherManagersGpuIsNotOffered) {
  std::vector<Gpu> machine = gpus(2);
  machine[0].offered = false;
  EXPECT_EQ(text_of(resources_of(machine, "")), "nvidia.com/gpu: GPU-1\n");
}

TEST(Sharing, MakesNumberedReplicas) {
  EXPECT_EQ(text_of(resources_of(gpus(2), "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2}]}}")),
            "nvidia.com/gpu: GPU-0::0 GPU-0::1 GPU-1::0 GPU-1::1\n");
}

TEST(Sharing, RenamesByDefaultAndByName) {
  EXPECT_EQ(text_of(resources_of(gpus(1), "sharing: {timeSlicing: {renameByDefault: true, replicas: 2}}")),
            "nvidia.com/gpu.shared: GPU-0::0 GPU-0::1\n");
  EXPECT_EQ(text_of(resources_of(gpus(1),
                                 "sharing: {timeSlicing: {resources: [{name: gpu, rename: team.gpu, replicas: 2}]}}")),
            "nvidia.com/team.gpu: GPU-0::0 GPU-0::1\n");
}

TEST(Sharing, KeepsExclusiveGpusBesideSharedOnes) {
  EXPECT_EQ(text_of(resources_of(gpus(3),
                                 "sharing: {timeSlicing: {renameByDefault: true, resources: [{name: gpu, "
                                 "devices: [0, GPU-2], replicas: 2}]}}")),
            "nvidia.com/gpu: GPU-1\nnvidia.com/gpu.shared: GPU-0::0 GPU-0::1 GPU-2::0 GPU-2::1\n");
  EXPECT_EQ(text_of(resources_of(
                gpus(3), "sharing: {timeSlicing: {resources: [{name: gpu, devices: 1, rename: a, replicas: 2}]}}")),
            "nvidia.com/a: GPU-0::0 GPU-0::1\nnvidia.com/gpu: GPU-1 GPU-2\n");
}

TEST(Sharing, TakesReplicasPerProduct) {
  const std::vector<Gpu> machine{gpu(0, "NVIDIA A100-SXM4-40GB"), gpu(1, "Tesla T4"), gpu(2, "NVIDIA L4")};
  EXPECT_EQ(text_of(resources_of(machine, R"(
sharing:
  timeSlicing:
    resources:
    - {name: gpu, products: ["*A100*"], replicas: 3, rename: big}
    - {name: gpu, products: ["*T4", "*L4"], replicas: 2, rename: small}
)")),
            "nvidia.com/big: GPU-0::0 GPU-0::1 GPU-0::2\n"
            "nvidia.com/small: GPU-1::0 GPU-1::1 GPU-2::0 GPU-2::1\n");
}

TEST(Sharing, SaysWhichDeviceIsMissing) {
  const auto share = [](const std::string& devices) {
    const auto settings = testing::settings_of("sharing: {timeSlicing: {resources: [{name: gpu, devices: " + devices +
                                               ", replicas: 2}]}}");
    Remarks remarks;
    EXPECT_TRUE(settings && make_resources(gpus(2), *settings, remarks)) << "everything else is offered";
    return remarks.missing.empty() ? "" : remarks.missing.front().what;
  };
  EXPECT_EQ(share("[7]"), "nvidia.com/gpu has no device 7");
  EXPECT_EQ(share("3"), "sharing 3 devices of nvidia.com/gpu, which has 2");
}

TEST(Sharing, MpsRefusesMigDevicesAndTooManyClients) {
  EXPECT_THAT(
      text_of(resources_of({mig_gpu(0, {"1g.10gb"})}, "{mig: {strategy: single}, sharing: {mps: {replicas: 2}}}")),
      HasSubstr("MPS does not share MIG devices"));
  EXPECT_THAT(text_of(resources_of(gpus(1), "sharing: {mps: {replicas: 49}}")), HasSubstr("at most 48"));
  std::vector<Gpu> old = gpus(1);
  old[0].compute_major = 6;
  EXPECT_THAT(text_of(resources_of(old, "sharing: {mps: {replicas: 17}}")), HasSubstr("at most 16"));
}

TEST(Sharing, RefusesMoreIdsThanKubeletTakes) {
  EXPECT_THAT(text_of(resources_of(gpus(8), "sharing: {timeSlicing: {replicas: 9000}}")),
              HasSubstr("72000 replicas of nvidia.com/gpu are more than kubelet accepts"));
}

TEST(Sharing, AThousandIdsAreFoundByName) {
  const auto resources = resources_of(gpus(8), "sharing: {timeSlicing: {replicas: 128}}");
  ASSERT_TRUE(resources);
  const Resource& gpu = resources->at("nvidia.com/gpu");
  ASSERT_EQ(gpu.ids.size(), 1024U);
  for (const Id& id : gpu.ids) EXPECT_EQ(gpu.find(id.id), &id);
  for (const char* wrong : {"GPU-0", "GPU-0::128", "GPU-0::", "GPU-0::1x", "GPU-0::01", "GPU-9::0", ""})
    EXPECT_EQ(gpu.find(wrong), nullptr) << wrong;
}

}  // namespace
}  // namespace slipway::deviceplugin
