// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/allocation/preferred_devices.hpp"

#include <random>

#include <gmock/gmock.h>

#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::ElementsAre;
using testing::gpus;
using testing::mig_gpu;
using testing::resources_of;
using ::testing::UnorderedElementsAre;

Nearness random_nearness(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Nearness nearness(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      nearness.set(i, j, std::vector<unsigned>{10, 20, 50, 110, 320, 1820}[generator() % 6]);
  return nearness;
}

long inside(std::uint32_t set, std::size_t count, const Nearness& nearness) {
  long sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      if ((set >> i & 1U) != 0 && (set >> j & 1U) != 0) sum += nearness.of(i, j);
  return sum;
}

/// Tries every set: the nearest inside first, then the one that leaves the nearest devices, then the lowest indexes.
std::vector<std::size_t> by_brute_force(std::uint32_t candidates, std::uint32_t required, int size, std::size_t count,
                                        const Nearness& nearness) {
  std::tuple<long, long, std::vector<long>> best{-1, 0, {}};
  std::uint32_t found = 0;
  for (std::uint32_t set = 0; set < 1U << count; ++set) {
    if ((set & ~candidates) != 0 || (set & required) != required || std::popcount(set) != size) continue;
    std::vector<long> order;
    for (std::size_t i = 0; i < count; ++i)
      if ((set >> i & 1U) != 0) order.push_back(-static_cast<long>(i));
    const std::tuple each{inside(set, count, nearness), inside(candidates & ~set, count, nearness), order};
    if (each > best) {
      best = each;
      found = set;
    }
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i)
    if ((found >> i & 1U) != 0) places.push_back(i);
  return places;
}

TEST(NearestSet, EqualsBruteForce) {
  std::mt19937 generator(1);
  for (unsigned round = 0; round < 400; ++round) {
    const std::size_t count = 2 + generator() % 9;
    const Nearness nearness = random_nearness(count, round);
    const std::uint32_t all = (1U << count) - 1;
    const std::uint32_t candidates = (static_cast<std::uint32_t>(generator()) & all) | 3U;
    const int size = 1 + static_cast<int>(generator() % static_cast<unsigned>(std::popcount(candidates)));
    const std::uint32_t required = size > 1 && generator() % 2 == 0 ? (candidates & (~candidates + 1)) : 0;
    std::vector<std::size_t> places;
    std::vector<std::size_t> must;
    for (std::size_t i = 0; i < count; ++i) {
      if ((candidates >> i & 1U) != 0) places.push_back(i);
      if ((required >> i & 1U) != 0) must.push_back(i);
    }
    ASSERT_EQ(nearest_set(places, must, static_cast<std::size_t>(size), nearness),
              by_brute_force(candidates, required, size, count, nearness))
        << "round " << round;
  }
}

TEST(NearestSet, OfSixteenGpusIsOptimal) {
  const Nearness nearness = random_nearness(16, 3);
  std::vector<std::size_t> all(16);
  for (std::size_t i = 0; i < 16; ++i) all[i] = i;
  EXPECT_EQ(nearest_set(all, {}, 8, nearness), by_brute_force(0xffff, 0, 8, 16, nearness));
}

TEST(NearestSet, ManyGpusAreChosenByExchangeWithTheRequiredOnes) {
  Nearness nearness(32);  // four islands of eight
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t j = i + 1; j < 32; ++j) nearness.set(i, j, i / 8 == j / 8 ? 1800 : 10);
  std::vector<std::size_t> all(32);
  for (std::size_t i = 0; i < 32; ++i) all[i] = i;
  EXPECT_THAT(nearest_set(all, {19}, 8, nearness), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
}

class Eight : public ::testing::Test {
 protected:
  Eight() : nearness_(8), resource_(resources_of(gpus(8), "")->at("nvidia.com/gpu")) {
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = i + 1; j < 8; ++j) nearness_.set(i, j, i / 4 == j / 4 ? 20 : 10);
  }
  std::vector<std::string> prefer(const PreferredRequest& request) const {
    return preferred(resource_, request, AllocationPolicy::distributed, nearness_);
  }
  Nearness nearness_;
  Resource resource_;
};

TEST_F(Eight, StaysWithinANumaNodeWhateverTheOrderOfTheRequest) {
  EXPECT_THAT(prefer({{"GPU-7", "GPU-3", "GPU-6", "GPU-4"}, {}, 2}), ElementsAre("GPU-4", "GPU-6"));
  EXPECT_THAT(prefer({{"GPU-4", "GPU-6", "GPU-3", "GPU-7"}, {}, 2}), ElementsAre("GPU-4", "GPU-6"));
}

TEST_F(Eight, KeepsFreeGpusTogether) {
  EXPECT_THAT(prefer({{"GPU-0", "GPU-4", "GPU-5", "GPU-6"}, {}, 1}), ElementsAre("GPU-0"));
}

TEST_F(Eight, KeepsRequiredDevicesAndAlwaysAnswers) {
  EXPECT_THAT(prefer({{"GPU-0", "GPU-1", "GPU-5", "GPU-6"}, {"GPU-5"}, 2}), ElementsAre("GPU-5", "GPU-6"));
  EXPECT_THAT(prefer({{"GPU-0", "GPU-1"}, {}, 2}), ElementsAre("GPU-0", "GPU-1"));
  EXPECT_THAT(prefer({{"GPU-0"}, {}, 4}), ::testing::IsEmpty());
  EXPECT_THAT(prefer({{"GPU-0", "strange"}, {}, 1}), ElementsAre("GPU-0"));
  EXPECT_THAT(prefer({{}, {}, 0}), ::testing::IsEmpty());
  EXPECT_THAT(prefer({{"GPU-0", "GPU-1"}, {"GPU-0"}, 0}), ElementsAre("GPU-0"));
}

TEST_F(Eight, UnknownDistancesStillGiveAnAnswer) {
  EXPECT_EQ(preferred(resource_, {{"GPU-1", "GPU-2", "GPU-3"}, {}, 2}, AllocationPolicy::packed, Nearness()).size(),
            2U);
}

class Replicas : public ::testing::Test {
 protected:
  std::vector<std::string> prefer(AllocationPolicy policy, const std::set<std::string>& used, std::size_t size) const {
    PreferredRequest request{{}, {}, size};
    for (const Id& id : resource_.ids)
      if (!used.contains(id.id)) request.available.push_back(id.id);
    return preferred(resource_, request, policy, Nearness(2));
  }
  Resource resource_ = resources_of(gpus(2), "sharing: {timeSlicing: {replicas: 4}}")->at("nvidia.com/gpu");
};

TEST_F(Replicas, DistributedTakesTheGpuWithTheFewestInUse) {
  EXPECT_THAT(prefer(AllocationPolicy::distributed, {"GPU-0::0"}, 1), ElementsAre("GPU-1::0"));
  EXPECT_THAT(prefer(AllocationPolicy::distributed, {}, 2), UnorderedElementsAre("GPU-0::0", "GPU-1::0"));
}

TEST_F(Replicas, PackedFillsAGpuFirst) {
  EXPECT_THAT(prefer(AllocationPolicy::packed, {"GPU-1::0"}, 2), ElementsAre("GPU-1::1", "GPU-1::2"));
}

TEST(MigDevices, FillAGpuThatIsInUseAlready) {
  const auto resources =
      resources_of({mig_gpu(0, {"1g.10gb", "1g.10gb"}), mig_gpu(1, {"1g.10gb", "1g.10gb"})}, "mig: {strategy: mixed}");
  ASSERT_TRUE(resources);
  EXPECT_THAT(preferred(resources->at("nvidia.com/mig-1g.10gb"), {{"MIG-0-0", "MIG-0-1", "MIG-1-1"}, {}, 1},
                        AllocationPolicy::distributed, Nearness(2)),
              ElementsAre("MIG-1-1"));
}

// Before the fix, a GPU that a pod of the former sharing still used went to an exclusive pod while others were idle.
TEST(Preferred, LeavesDevicesThatPodsHaveUncountedForLast) {
  const auto all = gpus(4);
  const auto resources = resources_of(all, "{}").value_or({});
  const Resource& resource = resources.at("nvidia.com/gpu");
  Nearness nearness(4);
  nearness.set(0, 1, 1820);  // the nearest pair contains the two that are in use
  nearness.set(2, 3, 10);
  const PreferredRequest two{{"GPU-0", "GPU-1", "GPU-2", "GPU-3"}, {}, 2};
  EXPECT_THAT(preferred(resource, two, AllocationPolicy::distributed, nearness), ElementsAre("GPU-0", "GPU-1"));
  EXPECT_THAT(preferred(resource, two, AllocationPolicy::distributed, nearness, {1, 2, 0, 0}),
              ElementsAre("GPU-2", "GPU-3"));
  const PreferredRequest three{two.available, {}, 3};
  EXPECT_THAT(preferred(resource, three, AllocationPolicy::distributed, nearness, {1, 2, 0, 0}),
              ElementsAre("GPU-0", "GPU-2", "GPU-3"))
      << "the one with fewer of them";
  const PreferredRequest required{two.available, {"GPU-1"}, 2};
  EXPECT_THAT(preferred(resource, required, AllocationPolicy::distributed, nearness, {1, 2, 0, 0}),
              ::testing::Contains("GPU-1"))
      << "kubelet has decided for that one";
  EXPECT_THAT(preferred(resource, two, AllocationPolicy::distributed, Nearness(), {1, 1, 0, 0}),
              UnorderedElementsAre("GPU-2", "GPU-3"))
      << "before the distances are known as well";
}

TEST(Preferred, LeavesReplicasOfDevicesThatPodsHaveUncountedForLast) {
  const auto all = gpus(2);
  const auto resources =
      resources_of(all, "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2}]}}").value_or({});
  const Resource& resource = resources.at("nvidia.com/gpu");
  const PreferredRequest one{{"GPU-0::0", "GPU-0::1", "GPU-1::1"}, {}, 1};
  EXPECT_THAT(preferred(resource, one, AllocationPolicy::distributed, Nearness(2)), ElementsAre("GPU-0::0"));
  EXPECT_THAT(preferred(resource, one, AllocationPolicy::distributed, Nearness(2), {1, 0}), ElementsAre("GPU-1::1"));
}

}  // namespace
}  // namespace slipway::deviceplugin
