// SPDX-License-Identifier: Apache-2.0
#include "mig/layout/arrange.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "every_arrangement.hpp"
#include "mig/config/named_configs.hpp"
#include "mig/layout/gpu_space.hpp"
#include "products.hpp"

namespace slipway::mig {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

Instances arranged(const Gpu& gpu, const Counts& wanted) {
  const auto instances = arrange(gpu, wanted, "here");
  EXPECT_TRUE(instances.ok()) << instances.error().what;
  return instances.value_or({});
}

std::vector<std::string> texts(const Gpu& gpu, const Instances& instances) {
  std::vector<std::string> all;
  for (const GpuInstance& each : instances) all.push_back(to_text(gpu, each));
  return all;
}

/// The rules of the hardware, implemented a second time: no memory slice is used twice, there are no more compute
/// slices than the GPU has, no profile is used more often than allowed, and the engines that exist once have one user.
void expect_possible(const Gpu& gpu, const Instances& instances) {
  std::vector<bool> taken(16);
  std::map<unsigned, unsigned> count;
  unsigned slices = 0;
  unsigned whole = 0;
  unsigned engines = 0;
  for (const InstanceProfile& each : gpu.profiles) whole = std::max(whole, each.profile.gpu_slices);
  for (const GpuInstance& instance : instances) {
    const InstanceProfile* const profile = gpu.find(instance.profile_id);
    ASSERT_NE(profile, nullptr);
    EXPECT_EQ(std::ranges::count(profile->starts, instance.start), 1);
    for (unsigned i = instance.start; i < instance.start + profile->size; ++i) {
      EXPECT_FALSE(taken[i]) << "two instances have memory slice " << i;
      taken[i] = true;
    }
    EXPECT_LE(++count[instance.profile_id], profile->max);
    slices += profile->profile.gpu_slices;
    engines += profile->profile.sign == '+' && profile->profile.attributes.front() != "gfx" ? 1U : 0U;
  }
  EXPECT_LE(slices, whole);
  EXPECT_LE(engines, 1U);
}

TEST(MigArrange, FitsEveryNamedConfigOfEveryProduct) {
  for (const Gpu& gpu : products()) {
    const auto generated = generate_configs({gpu});
    ASSERT_TRUE(generated.ok());
    for (const auto& [name, entries] : generated->configs.by_name) {
      const Counts& wanted = entries.front().layout.devices;
      const Instances instances = arranged(gpu, wanted);
      expect_possible(gpu, instances);
      EXPECT_EQ(layout_of(gpu, true, instances).devices, wanted) << gpu.name << " " << name;
    }
  }
}

TEST(MigArrange, FindsAnOrderThatTheDriverAccepts) {
  // One after the other, 1g, 1g, 2g and 3g do not fit: the driver puts the small ones where the 3g must lie.
  const Gpu gpu = a100_80();
  const Instances instances = arranged(gpu, counts({{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}));
  expect_possible(gpu, instances);
}

TEST(MigArrange, KeepsPossibleInstances) {
  const Gpu gpu = a100_80();
  const Gpu now = with(gpu, {whole(gpu, "2g.20gb", 0), whole(gpu, "1g.10gb", 2), whole(gpu, "3g.40gb", 4)});
  const Instances wanted = arranged(now, counts({{"1g.10gb", 4}, {"3g.40gb", 1}}));
  EXPECT_EQ(texts(now, wanted),
            (std::vector<std::string>{"1g.10gb at 0", "1g.10gb at 1", "1g.10gb at 2", "1g.10gb at 3", "3g.40gb at 4"}));
  const Difference change = difference(now.instances, wanted);
  ASSERT_EQ(change.destroyed.size(), 1U);
  EXPECT_EQ(to_text(now, change.destroyed[0].instance), "2g.20gb at 0");
  EXPECT_EQ(change.created.size(), 3U);
}

TEST(MigArrange, DestroysTheFewestInstances) {
  const Gpu gpu = a100_80();
  // A 4g can only lie at 0: of the small ones only those at 4 and above can stay.
  const Gpu now = with(gpu, {whole(gpu, "1g.10gb", 0), whole(gpu, "1g.10gb", 4), whole(gpu, "1g.10gb", 5)});
  const Instances wanted = arranged(now, counts({{"4g.40gb", 1}, {"1g.10gb", 2}}));
  EXPECT_EQ(texts(now, wanted), (std::vector<std::string>{"4g.40gb at 0", "1g.10gb at 4", "1g.10gb at 5"}));
}

TEST(MigArrange, KeepsAnEquivalentLayout) {
  const Gpu gpu = a100_40();
  for (const unsigned start : {0U, 3U, 6U}) {
    const Gpu now = with(gpu, {whole(gpu, "1g.5gb", start)});
    EXPECT_TRUE(difference(now.instances, arranged(now, counts({{"1c.1g.5gb", 1}}))).empty());
  }
}

TEST(MigArrange, KeepsSpaceForOtherInstances) {
  const Gpu gpu = a100_80();
  // The driver places a single 1g where it blocks no more of the places for a 3g or 4g than necessary.
  EXPECT_EQ(texts(gpu, arranged(gpu, counts({{"1g.10gb", 1}}))), (std::vector<std::string>{"1g.10gb at 6"}));
}

TEST(MigArrange, PutsPartsOfAGpuInstanceTogether) {
  const Gpu gpu = a100_40();
  const Instances three = arranged(gpu, counts({{"1c.3g.20gb", 3}}));
  ASSERT_EQ(three.size(), 1U);
  EXPECT_EQ(three[0].compute, (std::vector<ComputeInstance>{{0, 1}, {1, 1}, {2, 1}}));
  const Instances mixed = arranged(gpu, counts({{"1c.3g.20gb", 2}, {"2c.3g.20gb", 2}}));
  ASSERT_EQ(mixed.size(), 2U);
  EXPECT_EQ(mixed[0].compute, (std::vector<ComputeInstance>{{0, 2}, {2, 1}}));
  EXPECT_EQ(arranged(gpu, counts({{"3g.20gb", 2}})).size(), 2U);
  // A 3c lies at 0 or 4 of a 7g, and 2c at even slices: two of them fit only when the 3c is at 4.
  const Instances whole_gpu = arranged(gpu, counts({{"3c.7g.40gb", 1}, {"2c.7g.40gb", 2}}));
  ASSERT_EQ(whole_gpu.size(), 1U);
  EXPECT_EQ(whole_gpu[0].compute, (std::vector<ComputeInstance>{{0, 2}, {2, 2}, {4, 3}}));
}

TEST(MigArrange, KeepsTheGpuInstanceWhosePartsChange) {
  const Gpu gpu = a100_40();
  Gpu now = with(gpu, {GpuInstance{.start = 4, .profile_id = 9, .compute = {{0, 1}, {1, 1}, {2, 1}}}});
  const Difference fewer = difference(now.instances, arranged(now, counts({{"1c.3g.20gb", 2}})));
  ASSERT_EQ(fewer.destroyed.size(), 1U);
  EXPECT_FALSE(fewer.destroyed[0].whole);
  EXPECT_EQ(destroyed_devices(fewer), 1U);
  EXPECT_TRUE(fewer.created.empty());
  now.instances[0].compute = {{1, 1}};
  const Difference more = difference(now.instances, arranged(now, counts({{"1c.3g.20gb", 3}})));
  EXPECT_TRUE(more.destroyed.empty());
  ASSERT_EQ(more.created.size(), 1U);
  EXPECT_EQ(more.created[0].compute, (std::vector<ComputeInstance>{{0, 1}, {2, 1}}));
}

TEST(MigArrange, UsesAnEmptyGpuInstanceAndDestroysAnUnneededOne) {
  const Gpu gpu = a100_40();
  Gpu now = with(gpu, {GpuInstance{.start = 0, .profile_id = 9, .compute = {}}});
  const Difference used = difference(now.instances, arranged(now, counts({{"3g.20gb", 1}})));
  EXPECT_TRUE(used.destroyed.empty());
  ASSERT_EQ(used.created.size(), 1U);
  EXPECT_FALSE(used.created[0].whole);
  const Difference dropped = difference(now.instances, arranged(now, {}));
  ASSERT_EQ(dropped.destroyed.size(), 1U);
  EXPECT_TRUE(dropped.destroyed[0].whole);
}

TEST(MigArrange, KnowsWhichMediaEnginesExistOnce) {
  const Gpu gpu = rtx_pro_6000();
  EXPECT_TRUE(arrange(gpu, counts({{"1g.24gb+me.all", 1}, {"1g.24gb-me", 3}}), "").ok());
  EXPECT_TRUE(arrange(gpu, counts({{"1g.24gb+me", 1}, {"1g.24gb+gfx", 2}, {"1g.24gb", 1}}), "").ok());
  EXPECT_FALSE(arrange(gpu, counts({{"1g.24gb+me.all", 1}, {"1g.24gb", 1}}), "").ok());
  EXPECT_FALSE(arrange(gpu, counts({{"1g.24gb+me.all", 1}, {"1g.24gb+me", 1}}), "").ok());
  EXPECT_FALSE(arrange(a30(), counts({{"1g.6gb+me", 1}, {"2g.12gb+me", 1}}), "").ok());
}

TEST(MigArrange, NamesTheProfilesOfAGpuThatLacksOne) {
  const auto missing = arrange(a100_40(), counts({{"1g.11gb", 1}}), "config.yaml:4:5");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().where, "config.yaml:4:5");
  EXPECT_THAT(missing.error().what, HasSubstr("GPU 0 (0000:18:00.0), NVIDIA A100-SXM4-40GB, has no MIG profile "
                                              "'1g.11gb'; did you mean '1g.10gb'?"));
  EXPECT_THAT(missing.error().next, HasSubstr("1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"));
  EXPECT_FALSE(arrange(a100_40(), counts({{"2c.3g.20gb", 1}, {"3c.4g.20gb", 1}}), "").ok()) << "there is no 3c of a 4g";
}

// A size that the GPU does not have: '4g.24gb' instead of 3g.20gb, and '1g.10gb' instead of 7g.10gb.
TEST(MigArrange, NeverSuggestsAProfileWithOtherSlices) {
  const auto no_three = arrange(a30(), counts({{"3g.20gb", 1}}), "");
  ASSERT_FALSE(no_three.ok());
  EXPECT_THAT(no_three.error().what, Not(HasSubstr("did you mean")));
  const auto seven = arrange(a100_40(), counts({{"7g.10gb", 1}}), "");
  ASSERT_FALSE(seven.ok());
  EXPECT_THAT(seven.error().what, HasSubstr("did you mean '7g.40gb'?"));
}

TEST(MigArrange, ExplainsHowManyFitWhenTheyDoNot) {
  const auto three = arrange(a100_80(), counts({{"3g.40gb", 3}}), "here");
  ASSERT_FALSE(three.ok());
  EXPECT_EQ(three.error().code, ErrorCode::conflict);
  EXPECT_THAT(three.error().what, HasSubstr("3 x 3g.40gb do not fit together"));
  EXPECT_THAT(three.error().next, HasSubstr("2 x 3g.40gb"));
  EXPECT_FALSE(arrange(a100_80(), counts({{"3g.40gb", 2}, {"1g.10gb", 1}}), "here").ok());
  EXPECT_FALSE(arrange(a100_80(), counts({{"1g.10gb", 1000}}), "here").ok());
}

/// All arrangements that differ from the computed one are accepted too: each named config, with its instances moved
/// around.
std::vector<Instances> starting_points(const Gpu& gpu, const Counts& wanted) {
  std::vector<Instances> all{arranged(gpu, wanted)};
  Instances high;
  std::vector<bool> taken(16);
  const std::vector<std::pair<Profile, unsigned>> largest_first(wanted.rbegin(), wanted.rend());
  for (const auto& [name, count] : largest_first) {
    const InstanceProfile* const profile = gpu.find(name);
    unsigned left = count;
    for (auto start = profile->starts.rbegin(); start != profile->starts.rend() && left != 0; ++start) {
      if (std::any_of(taken.begin() + *start, taken.begin() + *start + profile->size, [](bool one) { return one; }))
        continue;
      std::fill(taken.begin() + *start, taken.begin() + *start + profile->size, true);
      high.push_back({.start = *start, .profile_id = profile->id, .compute = {{0, profile->profile.gpu_slices}}});
      --left;
    }
  }
  std::ranges::sort(high);
  all.push_back(high);
  if (high.size() > 1) all.emplace_back(high.begin() + 1, high.end());
  return all;
}

TEST(MigArrange, DestroysNoMoreThanTheFewestFromEveryNamedConfigToEveryOther) {
  unsigned pairs = 0;
  for (const Gpu& gpu : products()) {
    const auto generated = generate_configs({gpu});
    for (const auto& [from_name, from] : generated->configs.by_name)
      for (const Instances& start : starting_points(gpu, from.front().layout.devices))
        for (const auto& [to_name, to] : generated->configs.by_name) {
          const Gpu now = with(gpu, start);
          const Counts& wanted = to.front().layout.devices;
          const Instances instances = arranged(now, wanted);
          expect_possible(now, instances);
          EXPECT_EQ(layout_of(now, true, instances).devices, wanted);
          EXPECT_EQ(destroyed_devices(difference(now.instances, instances)),
                    EveryArrangement(now, wanted).fewest_destroyed())
              << gpu.name << ": " << from_name << " -> " << to_name;
          ++pairs;
        }
  }
  EXPECT_GT(pairs, 1800U);
}

Counts any_counts(const Gpu& gpu, std::mt19937& random) {
  Counts wanted;
  for (unsigned i = random() % 4; i < 4; ++i) {
    Profile profile = gpu.profiles[random() % gpu.profiles.size()].profile;
    if (random() % 3 == 0) profile.compute_slices = 1;
    wanted[profile] += 1 + static_cast<unsigned>(random() % 2);
  }
  return wanted;
}

TEST(MigArrange, ReachesTheRequestedLayoutFromAnyLayout) {
  std::mt19937 random(19);  // NOLINT(cert-msc51-cpp): the same samples each time
  unsigned fitting = 0;
  for (const Gpu& gpu : products())
    for (int i = 0; i < 300; ++i) {
      const Gpu now = with(gpu, any_instances(gpu, random));
      const Counts wanted = any_counts(gpu, random);
      const auto instances = arrange(now, wanted, "here");
      // Existing instances make no difference to whether the layout fits.
      EXPECT_EQ(instances.ok(), arrange(gpu, wanted, "here").ok()) << to_text(Layout{true, wanted});
      if (!instances) continue;
      ++fitting;
      expect_possible(now, *instances);
      EXPECT_EQ(layout_of(now, true, *instances).devices, wanted);
      const Difference again = difference(*instances, arranged(with(gpu, *instances), wanted));
      EXPECT_TRUE(again.empty()) << "an arrangement that is there is kept";
    }
  EXPECT_GT(fitting, 200U);
}

}  // namespace
}  // namespace slipway::mig
