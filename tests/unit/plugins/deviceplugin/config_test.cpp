// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

#include "machines.hpp"
#include "nvidia/config/config_choice.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::AllOf;
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

TEST(Config, KeysIgnoreCaseAndUnknownOnesAreNamedWithTheNearest) {
  const auto settings = settings_of("version: v1\nFlags:\n  MIGSTRATEGY: single\n  migStategy: none\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->mig_strategy, MigStrategy::single);
  EXPECT_THAT(settings->warnings, ElementsAre(HasSubstr("config.yaml:4:3: unknown key 'migStategy'")));
  EXPECT_THAT(settings->warnings[0], HasSubstr("migStrategy"));
  // The value of an unknown key is on another line.
  const auto block = settings_of("version: v1\nsharing:\n  timeSlicin:\n    replicas: 4\n");
  ASSERT_FALSE(block);
  EXPECT_EQ(block.error().where, "config.yaml:3:3");
}

// Before the fix, a misspelt key of `sharing` was ignored without a message, and no GPU was shared.
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
  EXPECT_THAT(error_of("a: [").what, HasSubstr("not YAML"));
}

TEST(Config, ShortFormsShareEverythingAndSetTheMigStrategy) {
  const auto settings = settings_of("{sharing: {timeSlicing: {replicas: 4}}, mig: {strategy: mixed}}");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->mig_strategy, MigStrategy::mixed);
  ASSERT_THAT(settings->sharing.resources, SizeIs(1));
  EXPECT_EQ(settings->sharing.resources[0].name, "");
}

TEST(Config, AnEmptySharingSharesNothing) {
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

// Before the fix, a relative one created folders in the service's working folder, and a line break ended the line of a
// unit.
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

Result<Settings> of_config_map(const std::string& text, const std::string& name) {
  SLIPWAY_TRY(configs, split_configs(read_config(text, "map.yaml"), text));
  SLIPWAY_TRY(config, choose_config(configs, {.name = name, .where = "here", .remedy = "choose one"}));
  Settings settings;
  settings.warnings = config->warnings;
  SLIPWAY_CHECK(take_config(config->node, settings));
  return settings;
}

Result<Settings> of_config_map(const std::string& name) { return of_config_map(kConfigMap, name); }

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

TEST(Config, AFileThatIsMissingIsNamedWithTheKeyOrVariableThatNamesIt) {
  const slipway::testing::FakeHost host;
  const auto nothing = [](const char*) -> const char* { return nullptr; };
  const auto by_key = read_settings(Spec(Json{{"config_file", "/etc/gone"}}), "deviceplugin", host, nothing);
  ASSERT_FALSE(by_key);
  EXPECT_EQ(by_key.error().what, "the config file /etc/gone does not exist");
  EXPECT_EQ(by_key.error().where, "spec.components.deviceplugin.config_file");
  EXPECT_EQ(by_key.error().next, "create the file, or remove config_file");
  const auto by_variable = read_settings(Spec(Json{{"env", {{"GFD_CONFIG_FILE", "/etc/gone"}}}}), "gfd", host, nothing);
  ASSERT_FALSE(by_variable);
  EXPECT_EQ(by_variable.error().where, "spec.components.gfd.env.GFD_CONFIG_FILE");
}

TEST(Config, AFolderOfConfigsHasALimitedNumberOfFiles) {
  slipway::testing::FakeHost host;
  for (int i = 0; i < 257; ++i) host.file("/etc/dp/c" + std::to_string(i), "flags: {}");
  host.file("/etc/choice", "c1\n");
  const Spec spec(Json{{"config_file", "/etc/dp"}, {"config_choice_file", "/etc/choice"}});
  EXPECT_EQ(read_settings(spec, "deviceplugin", host, no_environment).error().what,
            "the folder of configs has more than 256 files");
}

// Before the fix, the first line of a link's target was quoted in a log that more users can read than that file.
TEST(Config, AnInvalidChoiceIsNotQuoted) {
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
  std::string stars;  // before the fix, each further star doubled the time
  for (int i = 0; i < 60; ++i) stars += "*N";
  EXPECT_TRUE(fits(stars, std::string(200, 'N')));
  EXPECT_FALSE(fits(stars + "!", std::string(200, 'N')));
}

TEST(Config, OfAliasesOfAliasesIsRefusedWithItsFileAndLine) {
  // Aliases of aliases: a kilobyte that stands for billions of values, which the reader would visit without end.
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
              HasSubstr("not a number from 1 to 10"));
  EXPECT_THAT(error_of("sharing: {timeSlicing: {replicas: 4, oversubscription: 2}}").what,
              HasSubstr("no effect on time-slicing"));
}

// Before the fix, the first one counted below `sharing` and the last one at the top; NVIDIA's program always takes the
// last.
TEST(Config, AKeyThatIsGivenTwiceIsRefused) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 2, replicas: 4}]}}", "config.yaml:1:73"},
      {"sharing: {timeSlicing: {replicas: 2}}\nsharing: {timeSlicing: {replicas: 4}}", "config.yaml:2:1"},
      {"flags: {migStrategy: single}\nflags: {migStrategy: mixed}", "config.yaml:2:1"},
      {"sharing:\n  timeSlicing:\n    renameByDefault: true\n    resources: [{name: gpu, Replicas: 3, replicas: 5}]",
       "config.yaml:4:42"},
      {"sharing: {timeSlicing: {replicas: 2}, TimeSlicing: {replicas: 4}}", "config.yaml:1:39"},
      {"resources: {gpus: [{pattern: a, name: b, name: c}]}", "config.yaml:1:42"}};
  for (const auto& [text, where] : files) {
    const Error error = error_of(text);
    EXPECT_EQ(error.where, where) << text;
    EXPECT_THAT(error.what, HasSubstr("is given twice; the other value is at config.yaml:")) << text;
  }
}

TEST(Config, AKeyThatIsGivenTwiceWithOneValueIsAWarning) {
  const auto settings = settings_of("version: v1\nversion: v1\nflags: {migStrategy: mixed, MigStrategy: mixed}");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_THAT(settings->warnings,
              ElementsAre(HasSubstr("config.yaml:2:1: 'version' is given twice, first at config.yaml:1:1"),
                          HasSubstr("config.yaml:3:29: 'MigStrategy' is given twice, first at config.yaml:3:9")));
}

// Before the fix, unknown keys were silently ignored: a limit of 2 GB was not enforced.
TEST(Config, UnknownKeysAreNamedAtAnyDepth) {
  const auto settings = settings_of(R"(sharing:
  strategy: mps
  mps:
    defaultActiveThreadPercentage: 50
    resources:
    - {name: nvidia.com/gpu, replicas: 2, memoryGB: 2, gpus: [0], deviceIndices: [0]}
resources:
  gpus: [{pattern: "*", name: gpu, count: 1}]
imex: {channels: 1}
)");
  ASSERT_TRUE(settings) << settings.error().what;
  const auto unknown = [](const char* place, const char* key) {
    return HasSubstr(std::string("config.yaml:") + place + ": unknown key '" + key + "', ignored");
  };
  EXPECT_THAT(settings->warnings,
              ::testing::UnorderedElementsAre(
                  unknown("2:3", "strategy"), unknown("4:5", "defaultActiveThreadPercentage"),
                  unknown("6:43", "memoryGB"), unknown("6:56", "gpus"), unknown("6:67", "deviceIndices"),
                  unknown("8:36", "count"), unknown("9:8", "channels")));
}

TEST(Config, AMisplacedKeyIsNamedWithItsPlace) {
  const std::vector<std::pair<const char*, const char*>> files{
      {"flags: {failRequestsGreaterThanOne: true}",
       "config.yaml:1:9: unknown key 'failRequestsGreaterThanOne', ignored: "
       "it belongs below sharing.timeSlicing"},
      {"timeSlicing: {replicas: 4}", "config.yaml:1:1: unknown key 'timeSlicing', ignored: it belongs below sharing"},
      {"migStrategy: mixed", "it belongs below flags"},
      {"flags: {deviceListStrategy: cdi-cri}", "it belongs below flags.plugin"},
      {"sharing: {timeSlicing: {rename: x, replicas: 2}}", "below an entry of sharing.timeSlicing.resources"},
      {"config: {map: {default: \"version: v1\"}, default: default}", "values of NVIDIA's Helm chart"},
      {"sharing: {mps: {replicas: 2, resources: [{name: gpu, replicas: 4}]}}", "'replicas' has no effect here"}};
  for (const auto& [text, hint] : files) {
    const auto settings = settings_of(text);
    ASSERT_TRUE(settings) << text << settings.error().what;
    EXPECT_THAT(settings->warnings, ElementsAre(HasSubstr(hint))) << text;
  }
}

// Before the fix, sharing settings behind a line of --- had no effect.
TEST(Config, ASecondDocumentIsRefused) {
  const Error error = error_of("version: v1\n---\nversion: v1\nsharing: {timeSlicing: {replicas: 4}}\n");
  EXPECT_THAT(error.what, HasSubstr("a second document begins here"));
  EXPECT_EQ(error.where, "config.yaml:2:1");
  EXPECT_EQ(error_of("---\nversion: v1\n---\n# the end\n...\n").what, "it is right");
  EXPECT_EQ(error_of("# first\n---\nversion: v1\n").what, "it is right");
  EXPECT_NE(error_of("version: v1\n}\n").what, "it is right");
}

TEST(Config, OtherObjectsOfKubernetesAreNamed) {
  const auto error = [](const std::string& text) { return of_config_map(text, "").error(); };
  const Error list = error(
      "apiVersion: v1\nkind: List\nitems:\n- {kind: ConfigMap, metadata: {name: one}}\n"
      "- {kind: ConfigMap, metadata: {name: two}}\n");
  EXPECT_EQ(list.where, "map.yaml:2:7");
  EXPECT_EQ(list.what,
            "this is a Kubernetes object of the kind List, not a config; it contains the ConfigMaps one, two");
  EXPECT_THAT(list.next, HasSubstr("kubectl get configmap NAME -o yaml"));
  EXPECT_THAT(error("apiVersion: apps/v1\nkind: DaemonSet\n").what, HasSubstr("of the kind DaemonSet"));
  EXPECT_THAT(error("kind: ConfigMap\n").what, HasSubstr("no data"));
}

// Before the fix, the position was one inside the text, behind the end of a file of five lines.
TEST(Config, ErrorsInAQuotedOrFoldedConfigNameTheLineOfTheFile) {
  const auto where = [](const std::string& data) {
    const auto settings = of_config_map("kind: ConfigMap\ndata:\n" + data, "");
    return settings ? "it is right" : settings.error().where;
  };
  EXPECT_EQ(
      where("  any: \"version: v1\\nsharing:\\n  timeSlicing:\\n    resources:\\n    - name: nvidia.com/gpu\\n      "
            "replicas: x\\n\"\n"),
      "map.yaml:3:108");
  EXPECT_EQ(where("  any: \"version: v1\\nsharing:\\n  timeSlicing:\\n\n    \\   resources:\\n    - name: gpu\\n\n"
                  "    \\     replicas: x\\n\"\n"),
            "map.yaml:5:21")
      << "as kubectl writes it";
  EXPECT_EQ(where("  any: 'version: v1\n\n    flags: {migStrategy: both}'\n"), "map.yaml:5:26");
  EXPECT_EQ(where("  any: >\n    version: v1\n\n    flags:\n      migStrategy: both\n"), "map.yaml:7:20");
  EXPECT_EQ(where("  any: |-\n\n     version: v1\n     flags:\n       migStrategy: both"), "map.yaml:7:21");
  EXPECT_EQ(where("  any: {flags: {migStrategy: both}}\n"), "map.yaml:3:30");
  EXPECT_EQ(where("  any: &name \"flags:\\n  migStrategy: both\"\n"), "map.yaml:3:8") << "where the value begins";
}

TEST(Config, OnlyTheChosenConfigHasToBeValid) {
  const std::string text =
      "kind: ConfigMap\ndata:\n  good: \"version: v1\"\n  bad: \"a: [\"\n  twice: \"a: 1\\na: 1\"\n";
  EXPECT_TRUE(of_config_map(text, "good"));
  EXPECT_THAT(of_config_map(text, "bad").error().where, HasSubstr("map.yaml:4:"));
  EXPECT_THAT(of_config_map(text, "twice")->warnings, SizeIs(2));
  EXPECT_THAT(of_config_map(text, "").error().what, "there are several configs (bad, good, twice), and none is chosen");
}

// Before the fix, the place was a key of the spec, for any source of the name.
TEST(Config, AChoiceThatIsMissingIsLocatedWhereItIsMade) {
  slipway::testing::FakeHost host;
  host.file("/etc/dp/small", "").file("/etc/dp/big", "").file("/etc/choice", "large\n");
  const auto where = [&host](const Json& section) {
    return read_settings(Spec(section), "deviceplugin", host, no_environment).error().where;
  };
  EXPECT_EQ(where({{"config_file", "/etc/dp"}, {"config_choice_file", "/etc/choice"}}), "/etc/choice");
  EXPECT_EQ(where({{"config_file", "/etc/dp"}, {"config_name", "large"}}), "spec.components.deviceplugin.config_name");
  EXPECT_EQ(where({{"config_file", "/etc/dp"}}), "spec.components.deviceplugin.config_file");
  const auto of_tool = [&host](const std::string& name) {
    return read_settings_file(host, "/etc/dp", name, no_environment);
  };
  EXPECT_THAT(of_tool("").error().next, HasSubstr("choose one with --config-name"));
  EXPECT_EQ(of_tool("").error().where, "/etc/dp");
  EXPECT_EQ(of_tool("large").error().where, "--config-name");
  EXPECT_TRUE(of_tool("big"));
}

// Before the fix, GPUs stayed unshared, and only the service's log mentioned it.
TEST(Config, UnusedNamesCauseAWarning) {
  const auto warnings = [](const std::string& name) {
    return settings_of(
               "resources: {gpus: [{pattern: \"*A100*\", name: a100}]}\n"
               "sharing:\n  timeSlicing:\n    resources:\n    - {name: " +
               name + ", replicas: 2}")
        ->warnings;
  };
  EXPECT_THAT(warnings("nvidia.com/gpus"),
              ElementsAre(AllOf(HasSubstr("config.yaml:5:7: no GPU and no MIG device is offered as "
                                          "nvidia.com/gpus, so this entry shares nothing"),
                                HasSubstr("did you mean 'nvidia.com/gpu'?"))));
  EXPECT_THAT(warnings("amd.com/gpu"), SizeIs(1));
  for (const char* good : {"gpu", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "mig-1c.3g.20gb", "nvidia.com/a100"})
    EXPECT_THAT(warnings(good), ::testing::IsEmpty()) << good;
}

TEST(Config, ATabInTheIndentationIsNamed) {
  const Error error = error_of("version: v1\nflags:\n\tmigStrategy: mixed\n");
  EXPECT_EQ(error.where, "config.yaml:3:1");
  EXPECT_THAT(error.what, HasSubstr("a tab is used for indentation"));
}

}  // namespace
}  // namespace slipway::deviceplugin
