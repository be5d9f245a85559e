// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

#include "machines.hpp"
#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/shared_settings.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::settings_of;

/// A section of gfd beside one of deviceplugin.
Spec beside(const Json& plugin, Json own = Json::object()) {
  own["sections"] = {{"deviceplugin", plugin}};
  return Spec(own);
}

Result<Settings> shared_of(const Spec& spec, const FakeHost& host = FakeHost()) {
  return read_shared_settings(spec, "gfd", host, no_environment);
}

const Json kFour{{"version", "v1"}, {"sharing", {{"timeSlicing", {{"replicas", 4}}}}}};
const Json kTwo{{"version", "v1"}, {"sharing", {{"timeSlicing", {{"replicas", 2}}}}}};

TEST(SharedConfig, IsThatOfDevicepluginWhereTheSectionNamesNone) {
  const auto settings = shared_of(beside({{"config", kFour}}));
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->sharing.resources.at(0).replicas, 4U);
  EXPECT_EQ(shared_of(beside({{"config", kFour}}, {{"config", kTwo}}))->sharing.resources.at(0).replicas, 2U);
  EXPECT_EQ(shared_of(Spec(Json::object()))->sharing.kind, SharingKind::none) << "the spec has no deviceplugin";
}

TEST(SharedConfig, IsTheFileAndTheChoiceOfDeviceplugin) {
  FakeHost host;
  host.file("/etc/configs/four", "{version: v1, sharing: {timeSlicing: {replicas: 4}}}");
  host.file("/etc/configs/two", "{version: v1, sharing: {timeSlicing: {replicas: 2}}}");
  host.file("/etc/chosen", "two\n");
  const Json plugin{{"config_file", "/etc/configs"}, {"config_choice_file", "/etc/chosen"}, {"config_name", "four"}};
  EXPECT_EQ(shared_of(beside(plugin), host)->sharing.resources.at(0).replicas, 2U);
  host.without("/etc/chosen");
  EXPECT_EQ(shared_of(beside(plugin), host)->sharing.resources.at(0).replicas, 4U);
}

TEST(SharedConfig, HasTheVariablesOfBothAndTheSectionsOwnWin) {
  const Json plugin{{"config", kFour}, {"env", {{"MIG_STRATEGY", "single"}}}};
  EXPECT_EQ(shared_of(beside(plugin))->mig_strategy, MigStrategy::single);
  EXPECT_EQ(shared_of(beside(plugin, {{"env", {{"MIG_STRATEGY", "mixed"}}}}))->mig_strategy, MigStrategy::mixed);
}

TEST(SharedConfig, ThatIsInvalidIsNamedWithItsPlace) {
  const auto wrong = shared_of(beside({{"config", {{"version", "v2"}}}}));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().where, HasSubstr("spec.components.deviceplugin.config"));
}

TEST(SharedConfig, LeavesTheWarningsToDeviceplugin) {
  const Json plugin{{"config", {{"version", "v1"}, {"unheard", 1}}}};
  EXPECT_THAT(shared_of(beside(plugin))->warnings, IsEmpty());
}

TEST(Contradictions, NameTheDifferences) {
  const auto one = settings_of("{version: v1, mig: {strategy: mixed}, sharing: {timeSlicing: {replicas: 4}}}");
  const auto other = settings_of(
      "{version: v1, resources: {gpus: [{pattern: \"*\", name: big}]}, sharing: {mps: {resources: [{name: gpu, "
      "devices: [0], rename: few, replicas: 2}]}}}");
  EXPECT_THAT(contradictions("gfd", *one, *one), IsEmpty());
  EXPECT_THAT(
      contradictions("gfd", *one, *other),
      ElementsAre(HasSubstr("MIG strategy: gfd has mixed, and deviceplugin has none"),
                  HasSubstr("sharing: gfd has time-slicing, 4 of each device, and deviceplugin has mps, 2 of "
                            "each nvidia.com/gpu ([\"0\"]) as nvidia.com/few"),
                  HasSubstr("names of resources: gfd has NVIDIA's own, and deviceplugin has *: nvidia.com/big")));
}

}  // namespace
}  // namespace slipway::deviceplugin
