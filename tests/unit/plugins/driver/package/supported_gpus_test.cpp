// SPDX-License-Identifier: Apache-2.0
#include "driver/package/supported_gpus.hpp"

#include <gmock/gmock.h>

#include "nvidia/flavour.hpp"
#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::driver {
namespace {

using nvidia::Flavour;
using ::testing::ElementsAre;

SupportedGpus list_of(const char* text) { return supported_gpus_from_json(Json::parse(text)).value(); }

/// Returns the modules that a driver of branch 600 offers a GPU with this id.
std::vector<Flavour> allowed(const SupportedGpus& list, std::uint16_t id) {
  return nvidia::choose_flavour({list.judged(nvidia::GpuTable::built_in().of_id(id), 600)}, 600).allowed;
}

TEST(SupportedGpus, AreTheSameAfterTheirWayThroughAPackage) {
  const auto list =
      list_of(R"({"open": {"supports": "1eb8 2900-2902", "lacks": "1db5"}, "proprietary": {"supports": "1db5",
                  "lacks": "2901"}, "legacy": {"470": "0ff3"}})");
  EXPECT_EQ(list.open.supports.size(), 4U);
  EXPECT_EQ(supported_gpus_from_json(to_json(list)).value(), list);
  EXPECT_EQ(to_json(list)["open"]["supports"], "1eb8 2900-2902");
  for (const char* broken : {"[]", R"({"open": 1})", R"({"open": {"supports": "1eb"}})", R"({"legacy": {"x": ""}})"})
    EXPECT_FALSE(supported_gpus_from_json(Json::parse(broken))) << broken;
}

TEST(SupportedGpus, OfTheDriverCountBeforeTheTable) {
  const auto list = list_of(R"({"open": {"supports": "1eb8 1900 2901", "lacks": "1db5 2330"},
                                "proprietary": {"supports": "1db5 1eb8 2330 1900", "lacks": "2901"},
                                "legacy": {"580": "1b38"}})");
  EXPECT_THAT(allowed(list, 0x1eb8), ElementsAre(Flavour::open, Flavour::proprietary));
  EXPECT_THAT(allowed(list, 0x1db5), ElementsAre(Flavour::proprietary)) << "the table ends with 580";
  EXPECT_THAT(allowed(list, 0x2330), ElementsAre(Flavour::proprietary)) << "against the table";
  EXPECT_THAT(allowed(list, 0x2901), ElementsAre(Flavour::open));
  EXPECT_THAT(allowed(list, 0x1900), ElementsAre(Flavour::open, Flavour::proprietary)) << "not in the table";
  EXPECT_TRUE(allowed(list, 0x1b38).empty()) << "dropped by this version";
  EXPECT_THAT(allowed(list, 0x20b0), ElementsAre(Flavour::open, Flavour::proprietary)) << "not in the list";
}

}  // namespace
}  // namespace slipway::driver
