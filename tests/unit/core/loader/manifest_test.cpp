// SPDX-License-Identifier: Apache-2.0
#include "core/loader/manifest.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace slipway::core {
namespace {

constexpr const char* kWhole = R"(
component: driver
purpose: NVIDIA kernel modules and user space
provides: [gpu-driver]
outputs: {driver_root: string, version: string}
tools: true
spec:
  version:
    type: string
    required: true
    pattern: '[0-9]+(\.[0-9]+){1,2}'
    example: "535.261.03"
    help: The driver's version.
  modules: {type: enum, values: [auto, open, proprietary], default: auto}
  source: {type: artifact-source, required: true, tag_prefix: "{version}-"}
  limits:
    type: object
    keys:
      threads: {type: integer, default: 0}
      names: {type: list, items: {type: string}, example: [a, b]}
      labels: {type: map, items: {type: boolean}}
---
component: mig
purpose: MIG layouts
after: [driver]
requires: [gpu-driver]
conflicts: [vfio]
tool_programs: {split: slipway-mig-split}
)";

TEST(Manifest, GivesEachComponentWithItsSchema) {
  const auto manifests = parse_manifests(kWhole, "driver.yaml");
  ASSERT_TRUE(manifests) << to_text(manifests.error());
  ASSERT_EQ(manifests->size(), 2U);
  const Manifest& driver = manifests->at(0);
  EXPECT_EQ(driver.component, "driver");
  EXPECT_EQ(driver.provides, std::vector<std::string>{"gpu-driver"});
  EXPECT_EQ(driver.outputs.at("driver_root"), "string");
  EXPECT_TRUE(driver.has_tools);
  const auto& keys = driver.spec.keys;
  EXPECT_TRUE(keys.at("version").required);
  EXPECT_EQ(keys.at("version").example, "535.261.03");
  EXPECT_EQ(keys.at("modules").default_value, "auto");
  EXPECT_EQ(keys.at("source").tag_prefix, "{version}-");
  EXPECT_EQ(keys.at("limits").keys.at("threads").default_value, 0);
  EXPECT_EQ(keys.at("limits").keys.at("names").example, R"(["a","b"])");
  EXPECT_EQ(manifests->at(1).requires_, std::vector<std::string>{"gpu-driver"});
  EXPECT_FALSE(manifests->at(1).has_tools);
  EXPECT_EQ(manifests->at(1).tool_programs.at("split"), "slipway-mig-split");
  EXPECT_TRUE(manifests->at(1).spec.keys.empty());
}

TEST(Manifest, NamesTheUnitsThatComeAfterItAtABoot) {
  const auto manifests = parse_manifests(
      "component: x\npurpose: y\nservice_device: \"pci:v000010DE*\"\nboot_before: [acme.service, b@c.socket]\n"
      "verify_after: [fabric.service]\n",
      "x.yaml");
  ASSERT_TRUE(manifests) << to_text(manifests.error());
  EXPECT_EQ(manifests->at(0).service_device, "pci:v000010DE*");
  EXPECT_FALSE(parse_manifests("component: x\npurpose: y\nservice_device: 'pci:v\"*'\n", "x.yaml"));
  EXPECT_EQ(manifests->at(0).boot_before, (std::vector<std::string>{"acme.service", "b@c.socket"}));
  EXPECT_EQ(manifests->at(0).verify_after, std::vector<std::string>{"fabric.service"});
  for (const char* wrong : {"acme", "a b.service", "a.service\\nExecStart=x"})
    EXPECT_FALSE(
        parse_manifests(std::string("component: x\npurpose: y\nboot_before: [\"") + wrong + "\"]\n", "x.yaml"));
}

TEST(Manifest, SaysThatAComponentHasFilesForEachKernel) {
  const auto manifests = parse_manifests("component: x\npurpose: y\nper_kernel: true\n", "x.yaml");
  ASSERT_TRUE(manifests) << to_text(manifests.error());
  EXPECT_TRUE(manifests->at(0).per_kernel);
  EXPECT_FALSE(parse_manifests("component: x\npurpose: y\n", "x.yaml")->at(0).per_kernel);
}

TEST(Manifest, SaysThatUnitsWaitForTheServiceAndThatItHandsOver) {
  const std::string begin = "component: x\npurpose: y\n";
  const auto manifests = parse_manifests(
      begin + "service: plugin\nboot_before: [a.service]\nservice_before: true\nservice_hands_over: true\n", "x.yaml");
  ASSERT_TRUE(manifests) << to_text(manifests.error());
  EXPECT_TRUE(manifests->at(0).service_before);
  EXPECT_TRUE(manifests->at(0).service_hands_over);
  EXPECT_FALSE(parse_manifests(begin + "service: plugin\nservice_before: true\n", "x.yaml")) << "before what?";
  EXPECT_FALSE(parse_manifests(begin + "boot_before: [a.service]\nservice_before: true\n", "x.yaml")) << "no service";
  EXPECT_FALSE(parse_manifests(begin + "service_hands_over: true\n", "x.yaml")) << "no service";
}

TEST(Manifest, SaysInWhichSpecsAComponentHasItsService) {
  const auto manifests = parse_manifests(
      "component: a\npurpose: x\nservice: beside\nservice_if: {mode: nri}\n"
      "spec:\n  mode: {type: enum, values: [config, nri], default: config}\n---\n"
      "component: b\npurpose: x\nservice: plugin\n---\ncomponent: c\npurpose: x\n",
      "x.yaml");
  ASSERT_TRUE(manifests) << to_text(manifests.error());
  EXPECT_TRUE(has_service(manifests->at(0), {{"mode", "nri"}}));
  EXPECT_FALSE(has_service(manifests->at(0), {{"mode", "config"}}));
  EXPECT_FALSE(has_service(manifests->at(0), Json::object()));
  EXPECT_TRUE(has_service(manifests->at(1), Json::object()));
  EXPECT_FALSE(has_service(manifests->at(2), Json::object()));
}

struct SchemaMistake {
  std::string name;
  std::string spec;  ///< the lines below `spec:`, indented by two
  std::string where;
  std::string says;
};

void PrintTo(const SchemaMistake& mistake, std::ostream* out) { *out << mistake.name; }

class ManifestMistake : public ::testing::TestWithParam<SchemaMistake> {};

TEST_P(ManifestMistake, IsNamedWithItsPosition) {
  const auto manifests = parse_manifests("component: x\npurpose: y\nspec:\n" + GetParam().spec, "x.yaml");
  ASSERT_FALSE(manifests);
  EXPECT_EQ(manifests.error().where.substr(0, manifests.error().where.find(' ')), "x.yaml:" + GetParam().where);
  EXPECT_NE(manifests.error().what.find(GetParam().says), std::string::npos) << to_text(manifests.error());
  EXPECT_TRUE(manifests.error().details.empty()) << to_text(manifests.error());
}

const std::vector<SchemaMistake> kSchemaMistakes{
    {"UnknownKey", "  a: {type: string, patern: x}\n", "4:21", "unknown key 'patern' in a; did you mean 'pattern'?"},
    {"UnknownType", "  a: {type: strin}\n", "4:13", "did you mean 'string'?"},
    {"NoType", "  a: {help: x}\n", "4:6", "the key 'type' is missing in a"},
    {"DefaultOfAnotherType", "  a: {type: integer, default: x}\n", "4:31", "a.default: expected an integer, found 'x'"},
    {"DefaultOutsideTheEnum", "  a: {type: enum, values: [b, c], default: d}\n", "4:44", "expected one of b or c"},
    {"DefaultAgainstThePattern", "  a: {type: string, pattern: '[0-9]+', default: x}\n", "4:49",
     "does not fit the pattern"},
    {"ExampleAgainstThePattern", "  a: {type: string, pattern: '[0-9]+', example: x}\n", "4:49",
     "does not fit the pattern"},
    {"DefaultInAList", "  a: {type: list, items: {type: integer}, default: [1, x]}\n", "4:56",
     "a.default.1: expected an integer"},
    {"RequiredWithDefault", "  a: {type: string, required: true, default: x}\n", "4:37",
     "a required key can have no default"},
    {"PatternWithoutExample", "  a: {type: string, required: true, pattern: x}\n", "4:37", "needs an 'example'"},
    {"BadPattern", "  a: {type: string, pattern: '(x'}\n", "4:21", "is not a regular expression"},
    {"PatternOfAnInteger", "  a: {type: integer, pattern: x}\n", "4:22", "'pattern' has no meaning for this type"},
    {"ExpectsOfAnInteger", "  a: {type: integer, expects: x}\n", "4:22", "'expects' has no meaning for this type"},
    {"ExpectsWithoutAPattern", "  a: {type: string, expects: a word}\n", "4:21", "needs a 'pattern'"},
    {"DefaultAgainstWhatIsExpected", "  a: {type: string, pattern: '[0-9]+', expects: digits, default: x}\n", "4:66",
     "a.default: expected digits, found 'x'"},
    {"ValuesOfAString", "  a: {type: string, values: [x]}\n", "4:21", "'values' has no meaning for this type"},
    {"EnumWithoutValues", "  a: {type: enum}\n", "4:6", "an enum needs 'values'"},
    {"ValueTwice", "  a: {type: enum, values: [x, x]}\n", "4:19", "a value is given twice"},
    {"ObjectWithoutKeys", "  a: {type: object}\n", "4:7", "an object needs 'keys'"},
    {"NestedMistake", "  a: {type: object, keys: {b: {type: enum}}}\n", "4:31", "an enum needs 'values'"},
    {"MistakeInItems", "  a: {type: list, items: {type: foo}}\n", "4:33", "expected one of string, integer"},
    {"PrefixOfNoSibling", "  a: {type: artifact-source, tag_prefix: '{version}-'}\n", "4:3",
     "beside it is no key 'version' of type string"},
    {"SecretWithDefault", "  a: {type: secret, default: {env: X}}\n", "4:21", "'default' has no meaning"},
    {"RelativeDefaultPath", "  a: {type: path, default: x/y}\n", "4:19", "must be absolute"},
    {"DottedKey", "  a.b: {type: string}\n", "4:3", "'a.b' is not a name for a key"},
    {"ServiceIfOfAnotherValue", "  a: {type: enum, values: [x]}\nservice: plugin\nservice_if: {a: y}\n", "6:13",
     "the spec has no enum 'a' with the value 'y'"},
    {"ServiceIfOfNoEnum", "  a: {type: string}\nservice: plugin\nservice_if: {a: x}\n", "6:13",
     "the spec has no enum 'a' with the value 'x'"},
    {"ServiceIfWithoutService", "  a: {type: enum, values: [x]}\nservice_if: {a: x}\n", "5:13",
     "this key needs the key `service`"},
    {"NeedsWithoutService", "  a: {type: string}\nservice_needs: {memory: 1G}\n", "5:16",
     "this key needs the key `service`"},
    {"NeedsOfAnotherKey", "  a: {type: string}\nservice: plugin\nservice_needs: {writes: ['{b}/c']}\n", "6:16",
     "the spec has no key {b} with a string for the path {b}/c"},
    {"NeedsWithoutUnit", "  a: {type: string}\nservice: plugin\nservice_needs: {memory: 1}\n", "6:25",
     "a number and M or G"},
    {"NeedsThatEndALine", "  a: {type: string}\nservice: plugin\nservice_needs: {device_classes: [\"x\\nUser=x\"]}\n",
     "6:34", "does not have the form"},
    {"NeedsOfNoText", "  a: {type: list}\nservice: plugin\nservice_needs: {writes: ['{a}/c']}\n", "6:16",
     "the spec has no key {a} with a string for the path {a}/c"},
    {"NeedsInsideAText", "  a: {type: string}\nservice: plugin\nservice_needs: {reads: ['{a.b}']}\n", "6:16",
     "the spec has no key {a.b} with a string"},
    {"NeedsOfAMissingEntry",
     "  a: {type: object, keys: {b: {type: string}}}\nservice: plugin\n"
     "service_needs: {reads: ['{a.b}', '{a.c}']}\n",
     "6:16", "the spec has no key {a.c} with a string"},
    {"NeedsOfAnUnknownKind", "  a: {type: string}\nservice: plugin\nservice_needs: {write: [/x]}\n", "6:17",
     "did you mean 'writes'?"},
    {"NeedsACapabilityThatThereIsNot",
     "  a: {type: string}\nservice: plugin\n"
     "service_needs: {capabilities: [CAP_SYS_ADMN]}\n",
     "6:32", "did you mean 'CAP_SYS_ADMIN'?"},
    {"NeedsNoTask", "  a: {type: string}\nservice: plugin\nservice_needs: {tasks: 0}\n", "6:16",
     "expected 1 to 4194304, found 0"},
    {"NeedsTasksWithoutLimit", "  a: {type: string}\nservice: plugin\nservice_needs: {tasks: -1}\n", "6:16",
     "expected 1 to 4194304, found -1"},
    {"NeedsASystemCallLess", "  a: {type: string}\nservice: plugin\nservice_needs: {system_calls: [~bpf]}\n", "6:32",
     "does not have the form"},
    {"SectionsOfOneThatComesLater", "  a: {type: string}\nsections: {other: [config]}\n", "5:11",
     "does not come after 'other'"},
    {"SectionsAndAKeyOfThatName", "  sections: {type: string}\nafter: [other]\nsections: {other: [config]}\n", "6:11",
     "the spec may not have a key of that name"},
    {"NeedsOfAKeyThatIsNotRead",
     "  a: {type: string}\nafter: [other]\nsections: {other: [b]}\nservice: plugin\n"
     "service_needs: {reads: ['{sections.other.b}', '{sections.other.c}']}\n",
     "8:16", "the spec has no key {sections.other.c} with a string"},
    {"KeyWithoutSchema", "  a:\n", "4:3", "the key 'type' is missing in a"},
};

INSTANTIATE_TEST_SUITE_P(Schema, ManifestMistake, ::testing::ValuesIn(kSchemaMistakes),
                         [](const auto& test) { return test.param.name; });

TEST(Manifest, NamesEveryMistakeAtOnce) {
  const auto manifests = parse_manifests("component: A_b\npurpos: x\nafter: driver\nspec: {a: {type: no}}\n", "x.yaml");
  ASSERT_FALSE(manifests);
  const Error& error = manifests.error();
  EXPECT_EQ(error.what,
            "component: expected lower-case letters, digits and - (at most 40), a letter first, found 'A_b'");
  ASSERT_EQ(error.details.size(), 3U) << to_text(error);
  EXPECT_EQ(error.details[0].second, "x.yaml:2:1: unknown key 'purpos' in this file; did you mean 'purpose'?");
  EXPECT_EQ(error.details[1].second, "x.yaml:3:8: after: expected a list, found 'driver'");
}

TEST(Manifest, WithoutComponentsIsAnError) {
  EXPECT_FALSE(parse_manifests("", "x"));
  EXPECT_FALSE(parse_manifests("---\n", "x"));
  EXPECT_FALSE(parse_manifests("[1]", "x"));
}

TEST(Manifest, MayNotDescribeAComponentTwice) {
  const auto manifests = parse_manifests("component: a\npurpose: x\n---\ncomponent: a\npurpose: x\n", "x");
  ASSERT_FALSE(manifests);
  EXPECT_NE(manifests.error().what.find("'a' is described twice"), std::string::npos);
}

TEST(Manifest, MayNotRequireItself) { EXPECT_FALSE(parse_manifests("component: a\npurpose: x\nrequires: [a]\n", "x")); }

std::string problem_of(const std::string& keys) {
  const auto manifests = parse_manifests("component: acme\npurpose: x\nspec:\n" + keys, "acme.yaml");
  return manifests ? "" : to_text(manifests.error());
}

TEST(Manifest, LimitsNumbersAndSizesOfLists) {
  EXPECT_EQ(problem_of("  a: {type: integer, least: 1, most: 64, default: 8}\n  b: {type: list, least: 1}\n"), "");
  EXPECT_NE(problem_of("  a: {type: integer, least: 1, default: 0}\n").find("expected at least 1, found 0"),
            std::string::npos);
  EXPECT_NE(problem_of("  a: {type: list, least: 1, default: []}\n").find("expected at least 1 element, found 0"),
            std::string::npos);
  EXPECT_NE(problem_of("  a: {type: integer, least: 2, most: 1}\n").find("'least' is more than 'most'"),
            std::string::npos);
  EXPECT_NE(problem_of("  a: {type: list, most: -1}\n").find("cannot be negative"), std::string::npos);
  EXPECT_NE(problem_of("  a: {type: string, least: 1}\n").find("'least' has no meaning for this type"),
            std::string::npos);
}

TEST(Manifest, RefusesAFormerNameThatAnotherKeyHas) {
  EXPECT_EQ(problem_of("  a: {type: string, formerly: [old, older]}\n"), "");
  EXPECT_NE(problem_of("  a: {type: string, formerly: [b]}\n  b: {type: string}\n").find("is another key's"),
            std::string::npos);
  EXPECT_NE(
      problem_of("  a: {type: string, formerly: [c]}\n  b: {type: string, formerly: [c]}\n").find("is another key's"),
      std::string::npos);
}

}  // namespace
}  // namespace slipway::core
