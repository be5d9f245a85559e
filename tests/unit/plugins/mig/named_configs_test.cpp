// SPDX-License-Identifier: Apache-2.0
#include "mig/config/named_configs.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mig/config/known_products.hpp"
#include "products.hpp"

namespace slipway::mig {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The names of the configs, and the devices that each one requests.
std::map<std::string, std::string> generated(const std::vector<Gpu>& gpus) {
  std::map<std::string, std::string> texts;
  const auto configs = generate_configs(gpus);
  for (const auto& [name, entries] : configs->configs.by_name) texts[name] = to_text(entries.front().layout);
  return texts;
}

Gpu numbered(Gpu gpu, unsigned index) {
  gpu.index = index;
  return gpu;
}

TEST(MigNamedConfigs, HaveTheNamesAndCountsThatNvidiaPublishes) {
  const auto a100 = generated({a100_80()});
  EXPECT_EQ(a100.at("all-1g.10gb"), "7 x 1g.10gb");
  EXPECT_EQ(a100.at("all-1g.10gb.me"), "1 x 1g.10gb+me");
  EXPECT_EQ(a100.at("all-1g.20gb"), "4 x 1g.20gb");
  EXPECT_EQ(a100.at("all-2g.20gb"), "3 x 2g.20gb");
  EXPECT_EQ(a100.at("all-3g.40gb"), "2 x 3g.40gb");
  EXPECT_EQ(a100.at("all-7g.80gb"), "1 x 7g.80gb");
  EXPECT_EQ(a100.at("all-balanced"), "1 x 3g.40gb + 1 x 2g.20gb + 2 x 1g.10gb");
  EXPECT_EQ(a100.at("all-enabled"), "MIG enabled without devices");
  EXPECT_EQ(a100.at("all-disabled"), "MIG disabled");
  EXPECT_EQ(generated({a30()}).at("all-balanced"), "1 x 2g.12gb + 2 x 1g.6gb");
  EXPECT_EQ(generated({h200()}).at("all-balanced"), "1 x 3g.71gb + 1 x 2g.35gb + 2 x 1g.18gb");
  const auto rtx = generated({rtx_pro_6000()});
  EXPECT_EQ(rtx.at("all-1g.24gb-me"), "4 x 1g.24gb-me");
  EXPECT_EQ(rtx.at("all-1g.24gb.me.all"), "1 x 1g.24gb+me.all");
  EXPECT_EQ(rtx.at("all-balanced"), "1 x 2g.48gb + 2 x 1g.24gb");
}

TEST(MigNamedConfigs, FilterByChipOnlyOnMixedMachines) {
  EXPECT_TRUE(
      generate_configs({h100(), numbered(h100(), 1)})->configs.by_name.at("all-1g.10gb").front().filter.empty());
  // Each count once, the smaller first; both chips have a 1g.10gb, one of them as its double-memory profile.
  const auto mixed = generate_configs({a100_40(), numbered(a100_80(), 1), numbered(h100(), 2)});
  const Entries& entries = mixed->configs.by_name.at("all-1g.10gb");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(to_text(entries[0].layout), "4 x 1g.10gb");
  EXPECT_THAT(entries[0].filter, ElementsAre(DeviceId{.chip = 0x20b010de, .board = {}}));
  EXPECT_EQ(to_text(entries[1].layout), "7 x 1g.10gb");
  EXPECT_EQ(entries[1].filter.size(), 2U);
}

// A GPU without MIG accepts no config, so it does not restrict the configs of other chips.
TEST(MigNamedConfigs, HaveNoFilterForTheOnlyChipWithMig) {
  Gpu without = numbered(a100_80(), 1);
  without.id.chip = 0x1eb810de;
  without.capable = false;
  without.profiles.clear();
  const auto configs = generate_configs({h100(), without});
  EXPECT_THAT(configs->configs.by_name.at("all-1g.10gb").front().filter, IsEmpty());
}

TEST(MigNamedConfigs, AreOrderedAsUpstreamOrdersThem) {
  const auto configs = generate_configs({a100_40()});
  const std::string yaml = to_yaml(configs->configs.by_name);
  std::vector<std::string> names;
  std::istringstream lines(yaml);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  all-")) names.push_back(line.substr(2, line.size() - 3));
  EXPECT_THAT(names, ElementsAre("all-1g.5gb", "all-1g.5gb.me", "all-1g.10gb", "all-2g.10gb", "all-3g.20gb",
                                 "all-4g.20gb", "all-7g.40gb", "all-balanced", "all-disabled", "all-enabled"));
  const std::string json = to_json_text(configs->configs.by_name, NoDevices::null);
  EXPECT_LT(json.find("all-1g.10gb"), json.find("all-1g.5gb")) << "Go's JSON goes by the bytes";
  EXPECT_THAT(json, HasSubstr("\"mig-enabled\": false,\n        \"mig-devices\": null"));
  EXPECT_THAT(json, HasSubstr("\"mig-enabled\": true,\n        \"mig-devices\": {}"));
  const Gpu small = a100_40();
  const auto present = present_entries({with(small, {whole(small, "1g.10gb", 0), whole(small, "1g.5gb", 4)})});
  EXPECT_THAT(to_yaml({{"current", present}}), HasSubstr("      1g.5gb: 1\n      1g.10gb: 1\n"));
  const std::string exported = to_json_text({{"current", present}}, NoDevices::object);
  EXPECT_LT(exported.find("1g.10gb"), exported.find("1g.5gb"));
}

TEST(MigNamedConfigs, NameMissingParts) {
  Gpu old = a100_80();
  old.id.chip = 0xFFFF10DE;
  old.enabled = false;
  old.profiles.clear();
  const auto configs = generate_configs({old});
  EXPECT_EQ(configs->configs.by_name.size(), 2U);
  EXPECT_THAT(configs->notes, ElementsAre(HasSubstr("does not report its MIG profiles while MIG is disabled")));
  old.capable = false;
  EXPECT_FALSE(generate_configs({old}).ok());
}

// Drivers of branch 535 report no profiles while MIG is disabled.
TEST(MigNamedConfigs, AreThoseThatNvidiaPublishesWhereTheDriverTellsNoProfiles) {
  unsigned published = 0;
  for (const Gpu& gpu : products()) {
    if (published_offers(gpu.id).empty()) continue;
    ++published;
    Gpu old = gpu;
    old.profiles.clear();
    const auto of_driver = generate_configs({gpu});
    const auto of_table = generate_configs({old});
    EXPECT_EQ(to_yaml(of_table->configs.by_name), to_yaml(of_driver->configs.by_name)) << gpu.name;
  }
  EXPECT_GE(published, 5U);
}

TEST(MigNamedConfigs, AreReadBackAsTheyWereWritten) {
  for (const Gpu& gpu : products()) {
    const auto configs = generate_configs({gpu, numbered(a100_40(), 1)});
    for (const std::string& text :
         {to_yaml(configs->configs.by_name), to_json_text(configs->configs.by_name, NoDevices::null)}) {
      const auto again = configs_from_yaml(text, "again.yaml");
      ASSERT_TRUE(again.ok()) << again.error().what << "\n" << text;
      EXPECT_EQ(to_yaml(again->by_name), to_yaml(configs->configs.by_name));
    }
  }
}

TEST(MigExport, MergesGpusWithTheSameLayout) {
  const Gpu gpu = a100_80();
  const Gpu first = with(gpu, {whole(gpu, "3g.40gb", 4)});
  const Gpu second = numbered(with(gpu, {whole(gpu, "3g.40gb", 0)}), 1);
  EXPECT_EQ(to_yaml({{"current", present_entries({first, second})}}),
            "version: v1\nmig-configs:\n  current:\n  - devices: all\n    mig-enabled: true\n"
            "    mig-devices:\n      3g.40gb: 1\n");
  const Gpu third = numbered(with(gpu, {whole(gpu, "7g.80gb", 0)}), 2);
  EXPECT_EQ(to_yaml({{"a b", present_entries({first, second, third})}}),
            "version: v1\nmig-configs:\n  \"a b\":\n  - devices: [0, 1]\n    mig-enabled: true\n"
            "    mig-devices:\n      3g.40gb: 1\n  - devices: [2]\n    mig-enabled: true\n"
            "    mig-devices:\n      7g.80gb: 1\n");
}

TEST(MigExport, ReportsChipsApartWhereTheyDiffer) {
  const Gpu small = a100_40();
  Gpu off = numbered(h100(), 1);
  off.enabled = false;
  EXPECT_EQ(
      to_json_text({{"current", present_entries({with(small, {whole(small, "1g.5gb", 0)}), off})}}, NoDevices::object),
      R"({
  "version": "v1",
  "mig-configs": {
    "current": [
      {
        "device-filter": "0x20B010DE",
        "devices": "all",
        "mig-enabled": true,
        "mig-devices": {
          "1g.5gb": 1
        }
      },
      {
        "device-filter": "0x233010DE",
        "devices": "all",
        "mig-enabled": false,
        "mig-devices": {}
      }
    ]
  }
})");
}

TEST(MigGpu, IsTheSameAfterItsJson) {
  for (Gpu gpu : products()) {
    gpu.id.board = 0x146710de;
    gpu.instances = {GpuInstance{.start = 0, .profile_id = gpu.profiles.front().id, .compute = {{0, 1}}}};
    const auto again = gpu_from_json(to_json(gpu));
    ASSERT_TRUE(again.ok()) << again.error().what;
    EXPECT_EQ(*again, gpu);
  }
  EXPECT_FALSE(gpu_from_json(Json{{"index", 0}}).ok());
}

}  // namespace
}  // namespace slipway::mig
