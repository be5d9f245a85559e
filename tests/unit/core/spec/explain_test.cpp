// SPDX-License-Identifier: Apache-2.0
#include "cli/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/spec/document.hpp"
#include "plugins.hpp"

namespace slipway::core {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& component, const std::string& key = "") {
  const auto text = cli::explain(*test_plugins().manifest(component), key);
  return text ? *text : to_text(text.error());
}

TEST(Explain, ListsEveryKeyWithTypeDefaultHelpAndExample) {
  const std::string text = text_of("driver");
  EXPECT_THAT(text, HasSubstr("driver: NVIDIA kernel modules and user space\n  provides: gpu-driver\n"));
  EXPECT_THAT(text, HasSubstr("\nversion (string; required)\n    The driver's version.\n"));
  EXPECT_THAT(text, HasSubstr("    example: \"535.261.03\"\n"));
  EXPECT_THAT(text, HasSubstr("\nmodules (auto, open or proprietary; default auto)\n"));
  EXPECT_THAT(text, HasSubstr("\nmodprobe (map of string)\n"));
}

TEST(Explain, ShowsNestedKeys) {
  const std::string text = text_of("deviceplugin");
  EXPECT_THAT(text, HasSubstr("\nlimits.memory_mib (integer; default 64)\n"));
  EXPECT_THAT(text, HasSubstr("\nresources (list of object)\n"));
  EXPECT_THAT(text, HasSubstr("\nresources[].replicas (integer; default 1)\n"));
}

TEST(Explain, OfOneKeyShowsThatKeyAndWhatIsBelowIt) {
  EXPECT_EQ(text_of("deviceplugin", "limits.memory_mib"), "deviceplugin.limits.memory_mib (integer; default 64)\n");
  EXPECT_THAT(text_of("deviceplugin", "resources.name"), HasSubstr("deviceplugin.resources.name (string; required)"));
  EXPECT_THAT(text_of("driver", "source"), HasSubstr("\ndriver.source.insecure (boolean)\n"));
  EXPECT_THAT(text_of("driver", "source.ca"), HasSubstr("driver.source.ca (path)\n"));
}

const char* const kAcme =
    "component: acme\npurpose: x\nspec:\n"
    "  jobs: {type: integer, required: true, least: 1, most: 64, formerly: [threads, workers]}\n"
    "  modules: {type: list, least: 1}\n"
    "  labels: {type: map, most: 3}\n"
    "  path: {type: path, deprecated: write jobs, help: Where.}\n";

// Before the fix, only the error about a wrong value listed the valid values.
TEST(Explain, ShowsLimitsAndFormerNames) {
  const Plugins plugins = plugins_of(kAcme);
  const auto text = cli::explain(*plugins.manifest("acme"), "");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("\njobs (integer; required; 1 to 64)\n    formerly called threads and workers\n"));
  EXPECT_THAT(*text, HasSubstr("\nmodules (list; at least 1 element)\n"));
  EXPECT_THAT(*text, HasSubstr("\nlabels (map; at most 3 elements)\n"));
  EXPECT_THAT(*text, HasSubstr("\npath (path)\n    Where.\n    is deprecated: write jobs\n"));
  const Json keys = cli::explain_json(*plugins.manifest("acme"), "").value()["keys"];
  EXPECT_EQ(keys["jobs"]["least"], 1);
  EXPECT_EQ(keys["jobs"]["most"], 64);
  EXPECT_EQ(keys["jobs"]["formerly"], (Json{"threads", "workers"}));
  EXPECT_EQ(keys["path"]["deprecated"], "write jobs");
}

TEST(ExplainSchema, HasBoundsAndFormerNames) {
  const Json schema = cli::json_schema(plugins_of(kAcme).manifest("acme")->spec);
  const Json& keys = schema["properties"];
  EXPECT_EQ(keys["jobs"]["minimum"], 1);
  EXPECT_EQ(keys["jobs"]["maximum"], 64);
  EXPECT_EQ(keys["modules"]["minItems"], 1);
  EXPECT_EQ(keys["labels"]["maxProperties"], 3);
  EXPECT_EQ(keys["path"]["deprecated"], true);
  EXPECT_EQ(keys["path"]["description"], "This key is deprecated: write jobs. Where.");
  EXPECT_EQ(keys["threads"]["maximum"], 64) << "a former name is understood";
  EXPECT_EQ(keys["threads"]["deprecated"], true);
  EXPECT_EQ(schema["allOf"], Json::parse(R"([{"anyOf": [{"required": ["jobs"]}, {"required": ["threads"]},
                                             {"required": ["workers"]}]}])"));
}

TEST(Explain, OfAnUnknownKeyNamesTheNearestOne) {
  const auto text = cli::explain(*test_plugins().manifest("driver"), "verson");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::usage);
  EXPECT_EQ(text.error().what, "driver has no key 'verson'; did you mean 'version'?");
  EXPECT_THAT(text_of("deviceplugin", "limits.memory"), HasSubstr("its keys are memory_mib and socket"));
  EXPECT_THAT(text_of("driver", "version.major"), HasSubstr("driver.version has no key 'major'"));
  EXPECT_THAT(text_of("cdi", "a"), HasSubstr("cdi has no key 'a'"));
}

}  // namespace
}  // namespace slipway::core
