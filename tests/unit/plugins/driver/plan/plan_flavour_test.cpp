// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/package/annotations.hpp"
#include "driver/plan/plan.hpp"
#include "nvidia/gpus/gpu_table.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"

namespace slipway::driver {
namespace {

using nvidia::Flavour;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestPackage;

std::vector<Package> packages(const std::vector<TestPackage>& list) {
  std::vector<std::string> problems;
  return packages_of(testing::catalogue(list), problems);
}

Settings with_gpus(const std::vector<std::string>& names) {
  Settings settings;
  for (const auto& name : names) settings.gpus.push_back(nvidia::gpu_from_text(name).value());
  return settings;
}

HostFacts seeing(const std::vector<std::uint16_t>& ids) {
  HostFacts facts;
  facts.kernel_view = true;
  for (const auto id : ids) facts.gpus.push_back(nvidia::gpu_from_pci({.address = "0000:01:00.0", .device = id}));
  return facts;
}

TEST(PlanFlavour, OfAnImageFollowsTheGpusThatTheSpecNames) {
  EXPECT_THAT(plan_flavour(with_gpus({"B200"}), {}, 580, {})->flavours, ElementsAre(Flavour::open));
  EXPECT_THAT(plan_flavour(with_gpus({"V100-SXM2-32GB"}), {}, 580, {})->flavours, ElementsAre(Flavour::proprietary));
}

TEST(PlanFlavour, FollowsTheGpusThatCanBeSeenBeforeThoseThatTheSpecNames) {
  EXPECT_THAT(plan_flavour(with_gpus({"B200"}), seeing({0x1db5}), 580, {})->flavours,
              ElementsAre(Flavour::proprietary));
}

TEST(PlanFlavour, OfAnImageWithoutGpusIsThePackagesDefaultOrTheOnlyOne) {
  EXPECT_THAT(plan_flavour({}, {}, 535, packages({{}}))->flavours, ElementsAre(Flavour::open));
  const auto both = packages({{.extra = {{annotation::kDefaultFlavour, "proprietary"}}}, {.flavour = "proprietary"}});
  EXPECT_THAT(plan_flavour({}, {}, 535, both)->flavours, ElementsAre(Flavour::proprietary));
  EXPECT_THAT(plan_flavour({}, {}, 535, both)->notes.front(), HasSubstr("the package's default"));
}

TEST(PlanFlavour, AsksForGpusWhenTheFlavourIsUndecided) {
  EXPECT_EQ(to_text(plan_flavour({}, {}, 535, packages({{}, {.flavour = "proprietary"}})).error()),
            "error: modules: auto cannot be decided: no GPU can be seen, and the source has both flavours\n"
            "  at:    spec.components.driver.modules\n"
            "  do:    name the GPUs that the machine will have, for example gpus: [H100], or write modules: open\n");
}

TEST(PlanFlavour, RefusesAVersionThatSupportsNoneOfTheGpus) {
  EXPECT_EQ(to_text(plan_flavour({}, seeing({0x2901}), 535, {}).error()),
            "error: driver branch 535 supports none of these GPUs\n"
            "  at:    spec.components.driver.version\n"
            "  gpu:   B200 (blackwell) at 0000:01:00.0: supported from driver branch 570 on\n"
            "  do:    choose a driver version that supports them\n");
}

TEST(PlanFlavour, RefusesAFlavourThatSupportsNoneOfTheGpus) {
  Settings settings;
  settings.modules = Flavour::proprietary;
  const auto error = plan_flavour(settings, seeing({0x2901, 0x2901}), 580, {}).error();
  EXPECT_EQ(error.what, "the proprietary modules of driver branch 580 support none of the GPUs");
  EXPECT_EQ(error.where, "spec.components.driver.modules");
  EXPECT_EQ(error.details.size(), 2U);
  EXPECT_THAT(error.next, HasSubstr("modules: auto"));
}

TEST(PlanFlavour, TakesTheFlavourRequestedAndNamesGpusThatStayUnused) {
  Settings settings;
  settings.modules = Flavour::proprietary;
  const auto plan = plan_flavour(settings, seeing({0x2901, 0x1db5}), 580, {});
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->flavours, ElementsAre(Flavour::proprietary));
  EXPECT_THAT(plan->notes, ElementsAre(HasSubstr("B200 (blackwell) at 0000:01:00.0 requires the open modules: stays "
                                                 "unused with modules: proprietary")));
}

// amazon-eks-ami#2768: slipway's table is older than the GPU, and the driver's own list is not.
TEST(PlanFlavour, FollowsTheDriversOwnListBeforeTheTable) {
  const auto listed =
      packages({{.extra = {{annotation::kGpus, R"({"open": {"lacks": "4001"}, "proprietary": {"supports": "4001"}})"}}},
                {.flavour = "proprietary"}});
  EXPECT_THAT(plan_flavour({}, seeing({0x4001}), 590, {})->flavours, ElementsAre(Flavour::open));
  EXPECT_THAT(plan_flavour({}, seeing({0x4001}), 590, listed)->flavours, ElementsAre(Flavour::proprietary));
}

// Every architecture, live and offline, gives an answer or an error that names the GPU.
TEST(PlanFlavour, DecidesForEveryKnownGpuAndBranch) {
  for (const auto& name : nvidia::known_gpu_names())
    for (const unsigned branch : {470U, 535U, 580U, 595U}) {
      const auto plan = plan_flavour(with_gpus({name}), {}, branch, {});
      if (plan) {
        EXPECT_FALSE(plan->flavours.empty()) << name;
        EXPECT_THAT(plan->notes.front(), HasSubstr(name)) << branch;
      } else {
        EXPECT_THAT(to_text(plan.error()), HasSubstr(name)) << branch;
      }
    }
}

}  // namespace
}  // namespace slipway::driver
