// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <slipway/inputs.hpp>

#include "core/engine/packages/sources.hpp"

namespace slipway::core {
namespace {

using Part = CatalogueReading::Part;
using ::testing::ElementsAre;

const Catalogue kRegistry{.source = "oci://registry:5000/nvidia/driver", .entries = {}};

TEST(CatalogueReading, ReadsTheLockFirstAndThenEverythingElse) {
  CatalogueReading reading;
  EXPECT_EQ(reading.part(), Part::lock);
  EXPECT_TRUE(reading.widen({.code = ErrorCode::needs_catalogue}));
  EXPECT_EQ(reading.part(), Part::all);
  EXPECT_FALSE(reading.widen({.code = ErrorCode::needs_catalogue})) << "there is no more";
}

TEST(CatalogueReading, ReadsOnlyTheTagsThatAPluginAsksForAndKeepsThem) {
  CatalogueReading reading;
  EXPECT_TRUE(reading.widen(needs_tags(kRegistry, {})));
  EXPECT_EQ(reading.part(), Part::tags);
  EXPECT_TRUE(reading.widen(needs_tags(kRegistry, {"535"})));
  EXPECT_TRUE(reading.widen(needs_tags(kRegistry, {"550", "535"})));
  EXPECT_THAT(reading.tag_prefixes(), ElementsAre("535", "550"));
}

TEST(CatalogueReading, EndsWhenAPluginAsksForWhatItHas) {
  CatalogueReading reading;
  EXPECT_TRUE(reading.widen(needs_tags(kRegistry, {"535"})));
  EXPECT_FALSE(reading.widen(needs_tags(kRegistry, {"535"})));
  EXPECT_FALSE(reading.widen(needs_tags(kRegistry, {})));
}

TEST(CatalogueReading, EndsForAPluginThatKeepsAsking) {
  CatalogueReading reading;
  int rounds = 0;
  while (reading.widen(needs_tags(kRegistry, {std::to_string(rounds)})) && rounds < 100'000) ++rounds;
  EXPECT_LT(rounds, 100'000);
}

}  // namespace
}  // namespace slipway::core
