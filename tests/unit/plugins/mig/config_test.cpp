// SPDX-License-Identifier: Apache-2.0
#include "mig/model/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "products.hpp"

namespace slipway::mig {
namespace {

using testing::counts;
using ::testing::HasSubstr;

Result<Configs> read(const std::string& text) { return configs_from_yaml(text, "config.yaml"); }

/// Returns a config `it` with one entry of these lines.
Result<Configs> entry(const std::string& members) {
  return read("version: v1\nmig-configs:\n  it:\n  - {" + members + "}\n");
}

Entry only_entry(const std::string& members) {
  const auto configs = entry(members);
  EXPECT_TRUE(configs.ok()) << configs.error().what;
  return configs ? configs->by_name.at("it").front() : Entry{};
}

TEST(MigConfig, ReadsUpstreamsConfigs) {
  const auto configs = read(
      "version: v1\n"
      "mig-configs:\n"
      "  all-disabled:\n"
      "    - devices: all\n"
      "      mig-enabled: false\n"
      "  custom:\n"
      "    - device-filter: [\"0x233010DE\", \"0x20B210DE:0x146710DE\"]\n"
      "      devices: [0, 2]\n"
      "      mig-enabled: true\n"
      "      mig-devices:\n"
      "        \"1g.10gb\": 2\n"
      "        3g.40gb: 1\n"
      "    - device-filter: \"0x20B710DE\"\n"
      "      devices: all\n"
      "      mig-enabled: true\n"
      "      mig-devices: {}\n");
  ASSERT_TRUE(configs.ok()) << configs.error().what;
  const Entries& custom = configs->by_name.at("custom");
  ASSERT_EQ(custom.size(), 2U);
  EXPECT_EQ(custom[0].layout, (Layout{true, counts({{"1g.10gb", 2}, {"3g.40gb", 1}})}));
  EXPECT_EQ(*custom[0].devices, (std::vector<unsigned>{0, 2}));
  EXPECT_EQ(custom[0].filter[1].text(), "0x20B210DE:0x146710DE");
  EXPECT_FALSE(custom[1].devices);
  EXPECT_EQ(custom[1].layout, (Layout{true, {}}));
  EXPECT_FALSE(configs->by_name.at("all-disabled").front().layout.enabled);
}

TEST(MigConfig, TakesTwoNamesOfAProfileTogetherAndLeavesZeroCountsOut) {
  const Entry both = only_entry("devices: all, mig-enabled: true, mig-devices: {1c.1g.5gb: 2, 1g.5gb: 1, 2g.10gb: 0}");
  EXPECT_EQ(both.layout.devices, counts({{"1g.5gb", 3}}));
  EXPECT_EQ(to_text(both.layout), "3 x 1g.5gb");
}

TEST(MigConfig, MatchesAGpuByChipBoardAndIndex) {
  const DeviceId gpu{.chip = 0x20b210de, .board = 0x146710de};
  const auto takes = [&](const std::string& members, unsigned index = 0) {
    return only_entry(members + ", mig-enabled: false").takes(index, gpu);
  };
  EXPECT_TRUE(takes("devices: all"));
  EXPECT_TRUE(takes("device-filter: \"\", devices: all"));
  EXPECT_TRUE(takes("device-filter: \"0x20B210DE\", devices: all"));
  EXPECT_TRUE(takes("device-filter: [\"0x20b210de:0x146710de\"], devices: all"));
  EXPECT_TRUE(takes("device-filter: \"548540638\", devices: all")) << "a decimal number";
  EXPECT_FALSE(takes("device-filter: \"0x20B210DE:0x000010DE\", devices: all"));
  EXPECT_FALSE(takes("device-filter: \"0x233010DE\", devices: all"));
  EXPECT_TRUE(takes("devices: [1, 3]", 3));
  EXPECT_FALSE(takes("devices: [1, 3]", 2));
}

TEST(MigConfig, UsesTheLastEntryThatSelectsAGpu) {
  const auto configs = read(
      "version: v1\nmig-configs:\n  it:\n  - {devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}}\n"
      "  - {devices: [1], mig-enabled: false}\n");
  const Entries& entries = configs->by_name.at("it");
  EXPECT_TRUE(entry_for(entries, 0, {})->layout.enabled);
  EXPECT_FALSE(entry_for(entries, 1, {})->layout.enabled);
  EXPECT_EQ(entry_for({entries[1]}, 0, {}), nullptr);
}

TEST(MigConfig, SelectsByNameOrTheOnlyOne) {
  const auto one = entry("devices: all, mig-enabled: false");
  EXPECT_TRUE(select_config(*one, "").ok());
  EXPECT_THAT(select_config(*one, "its").error().what, HasSubstr("there is no config 'its'; did you mean 'it'?"));
  const auto two = read(
      "version: v1\nmig-configs: {a: [{devices: all, mig-enabled: false}], b: [{devices: all, mig-enabled: false}]}\n");
  const auto none = select_config(*two, "");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().what, HasSubstr("several configs"));
  EXPECT_THAT(none.error().next, HasSubstr("a, b"));
  EXPECT_TRUE(read("version: v1\n").ok()) << "configs that are absent altogether are no mistake of the format";
}

struct Broken {
  const char* text;
  const char* where;
  const char* what;
};

TEST(MigConfig, NamesTheRuleThatIsBrokenAndItsPlace) {
  const std::string head = "version: v1\nmig-configs:\n  it:\n";
  const std::vector<Broken> rows{
      {"", "config.yaml", "unknown version: ''"},
      {"[]", "config.yaml:1:1", "no MIG configs"},
      {"mig-configs: {}", "config.yaml:1:1", "'version' is missing"},
      {"version: v2", "config.yaml:1:10", "unknown version: 'v2'"},
      {"version: v1\nmig-config: {}", "config.yaml:2:1", "unexpected field 'mig-config'"},
      {"version: v1\nmig-configs: {}", "config.yaml:2:14", "at least one is required"},
      {"version: v1\nmig-configs: {it: []}", "config.yaml:2:19", "'it' has no entry"},
      {"version: v1\nversion: v2", "config.yaml:2:1", "twice"},
      {"version: v1\n---\nversion: v1", "config.yaml:2:1", "a second document"},
      {"version: v1\nmig-configs:\n  a: [{devices: all, mig-enabled: false}]\n  a: [{devices: all, mig-enabled: true, "
       "mig-devices: {}}]",
       "config.yaml:4:3", "'a' is given twice; the other value is at config.yaml:3:6"},
      {"kind: ConfigMap\ndata: {a: \"version: v1\", b: \"version: v1\"}", "config.yaml", "several configs (a, b)"},
      {"kind: ConfigMap\ndata:\n  config.yaml: |\n    version: v2\n", "config.yaml:4:14", "unknown version: 'v2'"},
      {"kind: List\napiVersion: v1\n", "config.yaml:1:7", "of the kind List"},
      {"{", "config.yaml", "YAML"},
  };
  for (const Broken& row : rows) {
    const auto configs = read(row.text);
    ASSERT_FALSE(configs.ok()) << row.text;
    EXPECT_THAT(configs.error().where, HasSubstr(row.where)) << row.text;
    EXPECT_THAT(configs.error().what, HasSubstr(row.what)) << row.text;
    EXPECT_FALSE(configs.error().next.empty()) << row.text;
  }
}

// One name twice, as in a repository for many clusters; nvidia-mig-parted accepts it.
TEST(MigConfig, EqualConfigsOfOneNameAreAWarning) {
  const auto configs = read(
      "version: v1\nmig-configs:\n  all-disabled: [{devices: all, mig-enabled: false}]\n"
      "  all-disabled:\n  - {devices: all, mig-enabled: false}\n");
  ASSERT_TRUE(configs.ok()) << to_text(configs.error());
  EXPECT_EQ(configs->by_name.size(), 1U);
  EXPECT_THAT(
      configs->warnings,
      ::testing::ElementsAre("config.yaml:4:3: 'all-disabled' is given twice, first at config.yaml:3:3; the values are "
                             "equal"));
}

TEST(MigConfig, InAConfigMapIsRead) {
  const auto configs = read(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: default-mig-parted-config}\ndata:\n  config.yaml: |\n"
      "    version: v1\n    mig-configs:\n      all-disabled: [{devices: all, mig-enabled: false}]\n");
  ASSERT_TRUE(configs.ok()) << to_text(configs.error());
  EXPECT_TRUE(configs->by_name.contains("all-disabled"));
}

TEST(MigConfig, NamesTheRuleThatAnEntryBreaks) {
  const std::vector<std::pair<const char*, const char*>> rows{
      {"mig-enabled: false", "missing required field 'devices'"},
      {"devices: all", "missing required field 'mig-enabled'"},
      {"devices: 0, mig-enabled: false", "`all` or a list"},
      {"devices: [\"0\"], mig-enabled: false", "not the number of a GPU"},
      {"devices: [-1], mig-enabled: false", "not the number of a GPU"},
      {"devices: some, mig-enabled: false", "`all` or a list"},
      {"devices: all, mig-enabled: 1", "true or false"},
      {"devices: all, mig-enabled: \"true\"", "true or false"},
      {"devices: all, mig-enabled: true", "missing required field 'mig-devices'"},
      {"devices: all, mig-enabled: false, mig-devices: {1g.5gb: 1}", "when 'mig-enabled' is false"},
      {"devices: all, mig-enabled: true, mig-devices: {1g.5gb: 0}", "every count is 0"},
      {"devices: all, mig-enabled: true, mig-devices: {1g.5gb: -1}", "the count of 1g.5gb is '-1'"},
      {"devices: all, mig-enabled: true, mig-devices: {1g.5gb: many}", "the count of 1g.5gb is 'many'"},
      {"devices: all, mig-enabled: true, mig-devices: {1g5gb: 1}", "not a MIG profile"},
      {"devices: all, mig-enabled: true, mig-devices: [1g.5gb]", "map of profiles to counts"},
      {"devices: all, mig-enabled: false, device-filter: A100", "'A100' is not a device id"},
      {"devices: all, mig-enabled: false, device-filter: \"0x1:0x2:0x3\"", "not a device id"},
      {"devices: all, mig-enabled: false, device-filter: \"0x2330\"", "matches no GPU"},
      {"devices: all, mig-enabled: false, device-filter: \"2330\"", "matches no GPU"},
      {"devices: all, mig-enabled: false, device-filter: [\"0x10DE2330\"]", "matches no GPU"},
      {"devices: all, mig-enabled: false, device-filter: {a: b}", "a string or a list of strings"},
      {"devices: all, mig_enabled: false", "unexpected field 'mig_enabled'"},
  };
  for (const auto& [members, what] : rows) {
    const auto configs = entry(members);
    ASSERT_FALSE(configs.ok()) << members;
    EXPECT_THAT(configs.error().what, HasSubstr(what)) << members;
    EXPECT_THAT(configs.error().where, HasSubstr("config.yaml:4:")) << members;
  }
}

// Before the fix, such a filter selected no GPU, and the tools and verify accepted it.
TEST(MigConfig, ExplainsHowAFilterThatMatchesNoGpuIsWritten) {
  for (const char* filter : {"0x2330", "2330", "0x10DE2330"}) {
    const auto configs = entry(std::string("devices: all, mig-enabled: false, device-filter: \"") + filter + '"');
    ASSERT_FALSE(configs.ok()) << filter;
    EXPECT_THAT(configs.error().next, HasSubstr("\"0x233010DE\"")) << filter;
  }
}

TEST(MigConfig, SaysThatACountHasNoQuotesAndAConfigIsAList) {
  const auto quoted = entry("devices: all, mig-enabled: true, mig-devices: {1g.5gb: \"7\"}");
  ASSERT_FALSE(quoted.ok());
  EXPECT_THAT(quoted.error().next, HasSubstr("without quotes"));
  const auto map = configs_from_yaml("version: v1\nmig-configs: {x: {devices: all, mig-enabled: false}}\n", "c.yaml");
  ASSERT_FALSE(map.ok());
  EXPECT_THAT(map.error().what, HasSubstr("the config 'x' is a map, and has to be a list"));
}

TEST(MigConfig, PrintsALayoutWithTheLargestFirst) {
  EXPECT_EQ(to_text(Layout{}), "MIG disabled");
  EXPECT_EQ(to_text(Layout{true, {}}), "MIG enabled without devices");
  EXPECT_EQ(to_text(Layout{true, counts({{"1g.10gb", 2}, {"3g.40gb", 1}, {"1c.3g.40gb", 2}})}),
            "1 x 3g.40gb + 2 x 1c.3g.40gb + 2 x 1g.10gb");
}

}  // namespace
}  // namespace slipway::mig
