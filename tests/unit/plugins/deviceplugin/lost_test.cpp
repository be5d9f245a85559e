// SPDX-License-Identifier: Apache-2.0
// GPUs that cannot be asked since the driver was loaded, and configs that name devices.
#include <gmock/gmock.h>

#include "deviceplugin/devices/resources.hpp"
#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using testing::gpu;
using testing::gpus;
using testing::mig_gpu;
using testing::settings_of;
using testing::text_of;

/// Returns a machine with lost GPUs; if NVML does not show them, it renumbers the others.
struct NodeGpus {
  std::vector<Gpu> gpus;
  std::vector<AbsentGpu> absent;
};

NodeGpus node_gpus(unsigned count, const std::set<unsigned>& lost) {
  NodeGpus made;
  for (unsigned place = 0; place < count; ++place) {
    if (lost.contains(place)) {
      made.absent.push_back({place, "0000:0" + std::to_string(place) + ":00.0", "NVIDIA H100 80GB HBM3"});
      continue;
    }
    made.gpus.push_back(gpu(place));
    made.gpus.back().index = static_cast<unsigned>(made.gpus.size()) - 1;
    made.gpus.back().place = place;
  }
  return made;
}

struct Offered {
  std::string resources;
  std::vector<Missing> missing;
};

Offered offered(const NodeGpus& node, const std::string& yaml) {
  const auto settings = settings_of(yaml);
  EXPECT_TRUE(settings) << settings.error().what;
  Remarks remarks;
  const auto made = make_resources(node.gpus, *settings, remarks, node.absent);
  return {text_of(made), remarks.missing};
}

const std::string kOneEach = R"(
sharing:
  timeSlicing:
    resources:
    - {name: nvidia.com/gpu, rename: nvidia.com/gpu-0, devices: ["0"], replicas: 2}
    - {name: nvidia.com/gpu, rename: nvidia.com/gpu-1, devices: ["1"], replicas: 2}
)";

// Before the fix, "nvidia.com/gpu has no device 1" kept the service from offering the other three.
TEST(LostGpu, MakesOnlyItsOwnResourceUnavailable) {
  const Offered four = offered(node_gpus(4, {1}), kOneEach);
  EXPECT_EQ(four.resources, "nvidia.com/gpu: GPU-2 GPU-3\nnvidia.com/gpu-0: GPU-0::0 GPU-0::1\nnvidia.com/gpu-1:\n");
  ASSERT_EQ(four.missing.size(), 1U);
  EXPECT_TRUE(four.missing[0].is_lost);
  EXPECT_EQ(four.missing[0].what, "nvidia.com/gpu has no device 1: GPU 1 (0000:01:00.0) does not answer");
  EXPECT_EQ(four.missing[0].where, "config.yaml:6:7");
}

TEST(LostGpu, NeverGivesItsIndexToAnother) {
  EXPECT_EQ(offered(node_gpus(4, {0}), kOneEach).resources,
            "nvidia.com/gpu: GPU-2 GPU-3\nnvidia.com/gpu-0:\nnvidia.com/gpu-1: GPU-1::0 GPU-1::1\n");
}

TEST(LostGpu, KeepsItsPlaceInACount) {
  const std::string first_four =
      "sharing: {timeSlicing: {resources: [{name: gpu, devices: 4, rename: few, replicas: 2}]}}";
  const Offered eight = offered(node_gpus(8, {1}), first_four);
  EXPECT_EQ(eight.resources,
            "nvidia.com/few: GPU-0::0 GPU-0::1 GPU-2::0 GPU-2::1 GPU-3::0 GPU-3::1\n"
            "nvidia.com/gpu: GPU-4 GPU-5 GPU-6 GPU-7\n");
  ASSERT_EQ(eight.missing.size(), 1U);
  EXPECT_TRUE(eight.missing[0].is_lost);
  EXPECT_THAT(eight.missing[0].what, ::testing::HasSubstr("3 of 4 devices of nvidia.com/gpu can be shared: GPU 1"));
  // Before the fix, with "sharing 4 devices of nvidia.com/gpu, which has 3", no GPU was offered at all.
  EXPECT_EQ(offered(node_gpus(4, {3}), first_four).missing.size(), 1U);
  EXPECT_TRUE(offered(node_gpus(8, {5}), first_four).missing.empty()) << "none of the first four";
}

TEST(LostGpu, IsMissingWhenItsUuidIsListed) {
  const std::string by_uuid =
      "sharing: {timeSlicing: {resources: [{name: gpu, devices: [GPU-0, GPU-1], rename: few, replicas: 2}]}}";
  const Offered lost = offered(node_gpus(2, {1}), by_uuid);
  EXPECT_EQ(lost.resources, "nvidia.com/few: GPU-0::0 GPU-0::1\n");
  ASSERT_EQ(lost.missing.size(), 1U);
  EXPECT_TRUE(lost.missing[0].is_lost);
}

TEST(MissingDevice, IsAnErrorWhereTheMachineHasNoSuchGpu) {
  const auto missing = [](const std::string& devices, const std::string& more = "") {
    return offered(node_gpus(8, {}),
                   more + "sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, devices: " + devices + "}]}}")
        .missing;
  };
  for (const char* devices : {"[\"9\"]", "9"}) {
    const auto found = missing(devices);
    ASSERT_EQ(found.size(), 1U) << devices;
    EXPECT_FALSE(found[0].is_lost);
    EXPECT_FALSE(found[0].may_come) << "no MIG layout makes a ninth GPU";
  }
  EXPECT_TRUE(missing("[\"0:1\"]").at(0).may_come) << "a MIG layout makes it";
  EXPECT_TRUE(missing("[MIG-1]").at(0).may_come);
}

TEST(MissingDevice, OfAnotherMigLayoutMayAppearLater) {
  NodeGpus mig{{mig_gpu(0, {"1g.10gb"}), gpu(1)}, {}};
  const Offered offer = offered(
      mig, "{mig: {strategy: mixed}, sharing: {timeSlicing: {resources: [{name: gpu, devices: [0], replicas: 2}]}}}");
  ASSERT_EQ(offer.missing.size(), 1U);
  EXPECT_TRUE(offer.missing[0].may_come);
}

}  // namespace
}  // namespace slipway::deviceplugin
