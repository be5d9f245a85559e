// SPDX-License-Identifier: Apache-2.0
#include <slipway/testing/fake_host.hpp>

#include "machines.hpp"
#include "nvidia/config/choose.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::settings_of;
using ::testing::SizeIs;

Error error_of(const std::string& yaml) {
  const auto settings = settings_of(yaml);
  return settings ? Error{.what = "it is right"} : settings.error();
}

TEST(Config, AnEmptyFileIsNvidiasDefaults) {
  const auto settings = settings_of("");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->mig_strategy, MigStrategy::none);
  EXPECT_EQ(settings->list_strategies, std::set{ListStrategy::envvar});
  EXPECT_FALSE(settings->pass_device_specs);
  EXPECT_EQ(settings->cdi_annotation_prefix, "cdi.k8s.io/");
}

TEST(Config, TakesNvidiasExampleWithoutAWarning) {
  const auto settings = settings_of(R"(
version: v1
flags:
  migStrategy: mixed
  failOnInitError: true
  nvidiaDriverRoot: /run/nvidia/driver
  plugin:
    passDeviceSpecs: true
    deviceListStrategy: [envvar, cdi-cri]
    deviceIDStrategy: index
  gfd: {oneshot: false, sleepInterval: 60s}
resources:
  gpus: [{pattern: "*", name: gpu}]
  mig: [{pattern: 1g.5gb, name: mig-1g.5gb}]
sharing:
  timeSlicing:
    renameByDefault: true
    resources: [{name: nvidia.com/gpu, replicas: 4}]
)");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_THAT(settings->warnings, ::testing::IsEmpty());
  EXPECT_EQ(settings->id_strategy, IdStrategy::index);
  EXPECT_EQ(settings->host_dev_root(), "/run/nvidia/driver");
  ASSERT_THAT(settings->sharing.resources, SizeIs(1));
  EXPECT_EQ(settings->sharing.resources[0].replicas, 4U);
  EXPECT_TRUE(settings->sharing.rename_by_default);
}

TEST(Config, KeysCountWhateverTheirCaseAndUnknownOnesAreNamedWithTheNearest) {
  const auto settings = settings_of("version: v1\nFlags:\n  MIGSTRATEGY: single\n  migStategy: none\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->mig_strategy, MigStrategy::single);
  EXPECT_THAT(settings->warnings, ElementsAre(HasSubstr("config.yaml:4:3: unknown key 'migStategy'")));
  EXPECT_THAT(settings->warnings[0], HasSubstr("migStrategy"));
  // Its value's line is another one.
  const auto block = settings_of("version: v1\nsharing:\n  timeSlicin:\n    replicas: 4\n");
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().where, "config.yaml:3:3");
}

// What is misspelt there shared nothing, and nobody was told.
TEST(Config, MisspeltKeysOfSharingAreRefusedWithTheNearest) {
  EXPECT_THAT(error_of("sharing: {timeSlicng: {replicas: 4}}").what, HasSubstr("did you mean 'timeSlicing'?"));
  EXPECT_THAT(error_of("sharing: {mps: {resorces: []}}").what, HasSubstr("did you mean 'resources'?"));
  EXPECT_THAT(error_of("sharing: {mps: {resources: [{name: gpu, replica: 4}]}}").what,
              HasSubstr("did you mean 'replicas'?"));
  EXPECT_THAT(error_of("flags: {migStrategy: mixd}").what, HasSubstr("did you mean 'mixed'?"));
  EXPECT_TRUE(settings_of("sharing: {TIMESLICING: {replicas: 4, somethingOfTomorrow: 1}}"));
}

TEST(Config, SaysWhichNamesItGivesToResources) {
  const auto settings = settings_of(
      "resources: {gpus: [{pattern: \"*\", name: a100}]}\n"
      "sharing: {timeSlicing: {resources: [{name: gpu, rename: cheap, replicas: 2}]}}");
  ASSERT_TRUE(settings);
  EXPECT_THAT(given_names(*settings), ElementsAre("nvidia.com/a100", "nvidia.com/a100.shared", "nvidia.com/cheap"));
}

TEST(Config, ErrorsNameLineAndColumn) {
  EXPECT_EQ(error_of("version: v2\n").where, "config.yaml:1:10");
  EXPECT_EQ(error_of("version: v1\nflags:\n  migStrategy: some\n").where, "config.yaml:3:16");
  const Error one = error_of("sharing:\n  timeSlicing:\n    resources:\n    - {name: gpu, replicas: 1}\n");
  EXPECT_EQ(one.where, "config.yaml:4:29");
  EXPECT_THAT(one.what, HasSubstr("replicas: 1"));
  EXPECT_THAT(error_of("sharing:\n  timeSlicing: {renameByDefault: true}\n").what, HasSubstr("no resources"));
  EXPECT_THAT(error_of("sharing: {mps: {replicas: 2}}\nflags: {migStrategy: mixed}").what, HasSubstr("MIG"));
  EXPECT_THAT(error_of("imex: {channelIDs: [1]}").what, HasSubstr("imex"));
  EXPECT_THAT(error_of("a: [").what, HasSubstr("no YAML"));
}

TEST(Config, ShortFormsShareEverythingAndSetTheMigStrategy) {
  const auto settings = settings_of("{sharing: {timeSlicing: {replicas: 4}}, mig: {strategy: mixed}}");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->mig_strategy, MigStrategy::mixed);
  ASSERT_THAT(settings->sharing.resources, SizeIs(1));
  EXPECT_EQ(settings->sharing.resources[0].name, "");
}

TEST(Config, AnEmptySharingIsNoSharing) {
  const auto settings = settings_of("{sharing: {timeSlicing: {}, mps: {replicas: 2}}}");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->sharing.kind, SharingKind::mps);
  EXPECT_TRUE(settings->sharing.fail_requests_greater_than_one);
}

TEST(Config, ResourceNamesGetTheirPrefixAndAreChecked) {
  const auto rename = [](const std::string& name) {
    return error_of("{sharing: {timeSlicing: {resources: [{name: gpu, replicas: 2, rename: " + name + "}]}}}").what;
  };
  EXPECT_EQ(rename("team-a.gpu"), "it is right");
  EXPECT_EQ(rename("example.com/gpu"), "it is right");
  for (const char* wrong : {"Gpu", "gpu_a", "-gpu", "gpu-", "a..b", "\"\"", "/gpu", "example.com/"})
    EXPECT_NE(rename(wrong), "it is right") << wrong;
  EXPECT_NE(rename(std::string(60, 'a')), "it is right");
}

const char* environment(const char* name) {
  const std::string_view text(name);
  if (text == "MIG_STRATEGY") return "single";
  if (text == "DEVICE_LIST_STRATEGY") return "envvar, cdi-annotations";
  if (text == "PASS_DEVICE_SPECS") return "";
  if (text == "GDS_ENABLED") return "T";
  return nullptr;
}

std::string place(const char* name) { return std::string("environment.") + name; }

TEST(Config, TheEnvironmentOfNvidiasFlagsWinsOverTheFile) {
  auto settings = settings_of("flags: {migStrategy: mixed, plugin: {passDeviceSpecs: true}}");
  ASSERT_TRUE(settings);
  ASSERT_TRUE(take_environment(environment, place, *settings));
  EXPECT_EQ(settings->mig_strategy, MigStrategy::single);
  EXPECT_EQ(settings->list_strategies, (std::set{ListStrategy::envvar, ListStrategy::cdi_annotations}));
  EXPECT_FALSE(settings->pass_device_specs) << "there and empty counts as false";
  EXPECT_TRUE(settings->gds);
  const auto wrong = take_environment(
      [](const char* name) { return std::string_view(name) == "GDS_ENABLED" ? "yes" : nullptr; }, place, *settings);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().where, HasSubstr("GDS_ENABLED"));
  EXPECT_EQ(wrong.error().code, ErrorCode::usage) << "as for gfd, exit 64";
}

// A relative one made folders wherever the service ran, and a line break ended the line of a unit.
TEST(Config, MpsRootIsAPathThatAUnitCanName) {
  EXPECT_EQ(settings_of("flags: {mpsRoot: /srv/m p$s}")->mps_root, "/srv/m p$s");
  for (const char* wrong : {"mps", "\"\"", "\"/srv/\\nX=1\"", "\"/srv/\\x7f\"", "/srv/../etc", "/srv/.."}) {
    const Error error = error_of(std::string("flags:\n  mpsRoot: ") + wrong + "\n");
    EXPECT_EQ(error.where, "config.yaml:2:12") << wrong;
    EXPECT_THAT(error.next, HasSubstr("/run/nvidia/mps")) << wrong;
  }
  Settings settings;
  const auto relative = take_environment(
      [](const char* name) { return std::string_view(name) == "MPS_ROOT" ? "run/mps" : nullptr; }, place, settings);
  ASSERT_FALSE(relative);
  EXPECT_THAT(relative.error().where, HasSubstr("MPS_ROOT"));
}

constexpr const char* kConfigMap = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: device-plugin-config}
data:
  any: |
    version: v1
    sharing:
      timeSlicing:
        replicas: 4
  wrong: |
    version: v1
    flags:
      migStrategy: both
)";

Result<Settings> of_config_map(const std::string& name) {
  const auto document = node_from_yaml(kConfigMap, "map.yaml");
  const auto configs = split_configs(*document, kConfigMap);
  const auto node = choose_config(*configs, name, "", "here");
  if (!node) return node.error();
  Settings settings;
  if (const Status taken = take_config(**node, settings); !taken) return taken.error();
  return settings;
}

TEST(Config, AConfigMapHoldsSeveralAndErrorsNameTheLineInItsFile) {
  const auto fallback = of_config_map("");
  ASSERT_TRUE(fallback) << fallback.error().what;
  EXPECT_EQ(fallback->sharing.kind, SharingKind::time_slicing) << "`any` counts when none is chosen";
  EXPECT_EQ(of_config_map("wrong").error().where, "map.yaml:13:20");
  EXPECT_THAT(of_config_map("other").error().next, HasSubstr("any, wrong"));
}

TEST(Config, AFolderOfConfigsIsChosenFromByAFile) {
  slipway::testing::FakeHost host;
  host.file("/etc/dp/small", "flags: {migStrategy: single}");
  host.file("/etc/dp/big", "flags: {migStrategy: mixed}");
  host.file("/etc/dp/..data/small", "{");
  host.file("/etc/choice", "big\n");
  const Spec spec(Json{{"config_file", "/etc/dp"}, {"config_choice_file", "/etc/choice"}});
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  const auto settings = read_settings(spec, "deviceplugin", host, nothing);
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->mig_strategy, MigStrategy::mixed);
  EXPECT_FALSE(read_settings(Spec(Json{{"config_file", "/etc/dp"}}), "deviceplugin", host, nothing))
      << "none is chosen";
}

TEST(Config, AFolderOfConfigsHasALimitedNumberOfFiles) {
  slipway::testing::FakeHost host;
  for (int i = 0; i < 257; ++i) host.file("/etc/dp/c" + std::to_string(i), "flags: {}");
  host.file("/etc/choice", "c1\n");
  const Spec spec(Json{{"config_file", "/etc/dp"}, {"config_choice_file", "/etc/choice"}});
  EXPECT_EQ(read_settings(spec, "deviceplugin", host, no_environment).error().what,
            "the folder of configs has more than 256 files");
}

// A link to another file had its first line quoted in a log that more people read than that file.
TEST(Config, AChoiceThatIsNoNameIsNotQuoted) {
  slipway::testing::FakeHost host;
  host.file("/etc/dp/small", "").file("/etc/choice", "root:$y$j9T$HASH:19000::\n");
  const Spec spec(Json{{"config_file", "/etc/dp"}, {"config_choice_file", "/etc/choice"}});
  const auto settings = read_settings(spec, "deviceplugin", host, no_environment);
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().where, "/etc/choice");
  EXPECT_EQ((settings.error().what + settings.error().next).find("HASH"), std::string::npos);
}

TEST(Config, PatternsHaveOneWildcardAndAreAnchored) {
  EXPECT_TRUE(fits("*", "anything"));
  EXPECT_TRUE(fits("NVIDIA*80GB*", "NVIDIA H100 80GB HBM3"));
  EXPECT_FALSE(fits("1g.5gb", "1g.5gb+me"));
  EXPECT_FALSE(fits("H100", "NVIDIA H100"));
  EXPECT_FALSE(fits("ab*ba", "aba"));
  EXPECT_TRUE(fits("a**b*", "ab"));
  std::string stars;  // took a time that doubles with each
  for (int i = 0; i < 60; ++i) stars += "*N";
  EXPECT_TRUE(fits(stars, std::string(200, 'N')));
  EXPECT_FALSE(fits(stars + "!", std::string(200, 'N')));
}

TEST(Config, OfAliasesOfAliasesIsRefusedWithItsFileAndLine) {
  // Aliases of aliases: a kilobyte that stood for billions of values, over which the reader walked without end.
  std::string bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string named = "*a" + std::to_string(i - 1);
    bomb += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + named;
    for (int n = 1; n < 10; ++n) bomb += ", " + named;
    bomb += "]\n";
  }
  const Error error = error_of(bomb);
  EXPECT_THAT(error.where, HasSubstr("config.yaml:6:"));
  EXPECT_THAT(error.what, HasSubstr("more than 200000 values"));
}

TEST(Config, TheOversubscriptionOfMpsIsANumberFromOneToTen) {
  const auto percent = [](const std::string& text) {
    const auto settings = settings_of("sharing: {mps: {replicas: 4, oversubscription: " + text + "}}");
    return settings ? settings->sharing.mps_memory_percent : 0U;
  };
  EXPECT_EQ(settings_of("sharing: {mps: {replicas: 4}}")->sharing.mps_memory_percent, 100U);
  EXPECT_EQ(percent("1.5"), 150U);
  EXPECT_EQ(percent("1"), 100U);
  EXPECT_EQ(percent("2.25"), 225U);
  EXPECT_EQ(percent("10"), 1000U);
  for (const char* wrong : {"0.5", "10.01", "1.555", "1.", "-2", "x", "[]", "\"\"", "99999999999999999999", "1e3"})
    EXPECT_EQ(percent(wrong), 0U) << wrong;
  EXPECT_THAT(error_of("sharing: {mps: {replicas: 4, oversubscription: 11}}").what,
              HasSubstr("no number from 1 to 10"));
  EXPECT_THAT(error_of("sharing: {timeSlicing: {replicas: 4, oversubscription: 2}}").what,
              HasSubstr("no effect on time-slicing"));
}

}  // namespace
}  // namespace slipway::deviceplugin
