// SPDX-License-Identifier: Apache-2.0
#include "driver/choose/version_constraint.hpp"

#include <gmock/gmock.h>

namespace slipway::driver {
namespace {

bool allows(const char* text, const char* version) {
  const auto desired = VersionConstraint::parse(text);
  EXPECT_TRUE(desired) << text;
  return desired && desired->allows(version);
}

TEST(VersionConstraint, ComparesByAsManyNumbersAsAreWritten) {
  EXPECT_TRUE(allows("535", "535.261.03"));
  EXPECT_FALSE(allows("535", "53.5"));
  EXPECT_TRUE(allows("535.261", "535.261.03"));
  EXPECT_FALSE(allows("535.26", "535.261.03"));
  EXPECT_TRUE(allows("535.261.3", "535.261.03"));
  EXPECT_TRUE(allows("<=535", "535.261.03"));
  EXPECT_FALSE(allows(">535", "535.261.03"));
  EXPECT_TRUE(allows(">535.183", "535.261.03"));
  EXPECT_TRUE(allows("470.86", "470.86"));
}

TEST(VersionConstraint, HoldsWhenAllBoundsDo) {
  EXPECT_TRUE(allows(">=535.200 <550", "535.261.03"));
  EXPECT_FALSE(allows(">=535.200 <550", "550.163.01"));
  EXPECT_FALSE(allows(">=535.200 <550", "535.183.06"));
  EXPECT_FALSE(allows(">= 535 != 535.261.03", "535.261.03"));
  EXPECT_TRUE(allows(">=535<550", "535.261.03"));
  EXPECT_TRUE(allows("latest", "580.82.07"));
  EXPECT_TRUE(allows("", "580.82.07"));
  EXPECT_FALSE(allows("latest", "stable"));
}

TEST(VersionConstraint, IsExactWithThreeNumbersOrNone) {
  EXPECT_TRUE(VersionConstraint::parse("535.261.03")->is_exact());
  EXPECT_TRUE(VersionConstraint::parse("")->is_exact());
  for (const char* text : {"535", "535.261", "latest", "<=535.261.03"})
    EXPECT_FALSE(VersionConstraint::parse(text)->is_exact()) << text;
}

TEST(VersionConstraint, OrdersByNearness) {
  EXPECT_THAT(
      VersionConstraint::parse("535.261.04")->nearest_first({"470.86", "535.261.03", "535.183.06", "580.82.07"}),
      ::testing::ElementsAre("535.261.03", "535.183.06", "580.82.07", "470.86"));
  EXPECT_THAT(VersionConstraint::parse("latest")->nearest_first({"470.86", "580.82.07"}),
              ::testing::ElementsAre("580.82.07", "470.86"));
}

TEST(VersionConstraint, RefusesInvalidText) {
  for (const char* text : {"newest", "535.", ".535", "535..1", "535.261.03.1", ">=", "=535", "535 550", "535,550",
                           ">>535", "latest 535", "5350000", "535.261.03-open"})
    EXPECT_FALSE(VersionConstraint::parse(text)) << text;
}

}  // namespace
}  // namespace slipway::driver
