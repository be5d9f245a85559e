// SPDX-License-Identifier: Apache-2.0
// `env` of the component deviceplugin: the variables of NVIDIA's plugin, with their meaning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "deviceplugin/devices/health.hpp"
#include "nvidia/config/config_choice.hpp"

namespace slipway::deviceplugin {
namespace {

using namespace nvidia::config;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<Settings> with(const Json& env, const char* (*process)(const char*) = no_environment) {
  const slipway::testing::FakeHost host;
  return read_settings(
      Spec(Json{{"config", {{"version", "v1"}, {"flags", {{"migStrategy", "single"}}}}}, {"env", env}}), "deviceplugin",
      host, process);
}

TEST(PluginVariables, OfTheSpecWinOverTheConfigAndOverThoseOfTheProcess) {
  const auto process = [](const char* name) -> const char* {
    return std::string_view(name) == "DEVICE_LIST_STRATEGY" ? "envvar" : nullptr;
  };
  const auto settings = with({{"MIG_STRATEGY", "mixed"}, {"DEVICE_LIST_STRATEGY", "cdi-cri"}}, process);
  ASSERT_TRUE(settings.ok()) << to_text(settings.error());
  EXPECT_EQ(settings->mig_strategy, MigStrategy::mixed);
  EXPECT_THAT(settings->list_strategies, ElementsAre(ListStrategy::cdi_cri));
  EXPECT_EQ(with(Json::object())->mig_strategy, MigStrategy::single);
}

// Before the fix, '109;94' was taken for no number at all, without a message.
TEST(PluginVariables, NameInvalidWordsInAListOfXids) {
  const auto settings = with({{"DP_DISABLE_HEALTHCHECKS", "109;94, XIDs,31"}, {"DP_ENABLE_HEALTHCHECKS", "79"}});
  ASSERT_TRUE(settings.ok()) << to_text(settings.error());
  EXPECT_THAT(settings->warnings,
              ElementsAre("spec.components.deviceplugin.env.DP_DISABLE_HEALTHCHECKS: '109;94' is not the number of an "
                          "XID and is ignored: write numbers, xids or all, with commas between them"));
}

TEST(PluginVariables, ForUnsupportedFeaturesAreRefusedByName) {
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"CDI_FEATURE_FLAGS", "enable-coherent-annotations"},
                                          {"CDI_DISABLE_HOOKS", "all"},
                                          {"DEVICE_DISCOVERY_STRATEGY", "tegra"},
                                          {"NVIDIA_CDI_HOOK_PATH", "/usr/bin/nvidia-cdi-hook"},
                                          {"KUBELET_SOCKET", ""}}) {
    const auto settings = with({{name, value}});
    ASSERT_FALSE(settings) << name;
    EXPECT_EQ(settings.error().code, ErrorCode::usage) << name;
    EXPECT_THAT(to_text(settings.error()), HasSubstr(name));
  }
  EXPECT_TRUE(with({{"DEVICE_DISCOVERY_STRATEGY", "auto"}, {"CDI_FEATURE_FLAGS", ""}}));
  const auto process = [](const char* name) -> const char* {
    return std::string_view(name) == "CDI_DISABLE_HOOKS" ? "all" : nullptr;
  };
  EXPECT_THAT(to_text(with(Json::object(), process).error()), HasSubstr("`hooks: none` of the component cdi"));
}

// Before the fix, a message had only the variable's name, and not the line of the spec.
TEST(PluginVariables, ThatAreInvalidAreNamedWithTheirPlace) {
  const std::string key = "spec.components.deviceplugin.env.";
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"MIG_STRATEGY", "some"}, {"GDS_ENABLED", "yes"}, {"MPS_ROOT", "run/mps"}, {"KUBELET_SOCKET", "k.sock"}})
    EXPECT_EQ(with({{name, value}}).error().where, key + name);
  static std::string set;
  const auto process = [](const char* name) -> const char* { return name == set ? "wrong" : nullptr; };
  for (const char* name : {"MIG_STRATEGY", "KUBELET_SOCKET"}) {
    set = name;
    EXPECT_EQ(with({{"GDS_ENABLED", "true"}}, process).error().where, "environment." + set);
  }
}

TEST(PluginVariables, OfItsChartCauseOnlyAWarning) {
  const auto chart = with({{"PASS_DEVICE_SPECS", "true"},
                           {"DEVICE_LIST_STRATEGY", "envvar"},
                           {"DEVICE_ID_STRATEGY", "uuid"},
                           {"MPS_ROOT", "/run/nvidia/mps"}});
  ASSERT_TRUE(chart);
  EXPECT_THAT(chart->warnings, IsEmpty());
  EXPECT_THAT(with({{"NVIDIA_VISIBLE_DEVICES", "all"}})->warnings, ElementsAre(HasSubstr("has no effect")));
  EXPECT_THAT(with({{"MIG_STRATEGI", "mixed"}})->warnings, ElementsAre(HasSubstr("did you mean 'MIG_STRATEGY'?")));
}

TEST(PluginVariables, OfTheFileAreCheckedAsWell) {
  const slipway::testing::FakeHost host;
  const auto with_flags = [&](const Json& flags) {
    return read_settings(Spec(Json{{"config", {{"flags", flags}}}}), "deviceplugin", host, no_environment);
  };
  EXPECT_TRUE(with_flags({{"deviceDiscoveryStrategy", "nvml"}}));
  EXPECT_THAT(to_text(with_flags({{"deviceDiscoveryStrategy", "tegra"}}).error()),
              HasSubstr("does not support finding devices by 'tegra'"));
  EXPECT_TRUE(with_flags({{"failOnInitError", true}})->fail_on_init_error);
}

// Before the fix, `all` switched the XIDs off, but a GPU with ECC errors still became unhealthy.
TEST(HealthChecks, AreDisabledForAllOrForXids) {
  const nvidia::health::Rules rules;
  EXPECT_TRUE(XidFilter("ALL", "", rules).nothing_counts());
  EXPECT_FALSE(XidFilter("all", "79", rules).nothing_counts());
  EXPECT_FALSE(XidFilter("xids", "", rules).nothing_counts());
  EXPECT_FALSE(XidFilter("63, 79", "", rules).nothing_counts());
  HealthBook book({});
  book.ecc("GPU-1", Moment());
  book.driver_gone("unloaded", Moment());
  EXPECT_FALSE(book.of("GPU-1").healthy);
  book.set_counting(false);
  EXPECT_TRUE(book.of("GPU-1").healthy);
  book.set_counting(true);
  EXPECT_FALSE(book.of("GPU-1").healthy) << "evidence is kept";
  EXPECT_THAT(with({{"DP_DISABLE_HEALTHCHECKS", "all"}})->warnings, ElementsAre(HasSubstr("not even a lost one")));
}

}  // namespace
}  // namespace slipway::deviceplugin
