// SPDX-License-Identifier: Apache-2.0
#include "nvidia/version_wish.hpp"

#include <gmock/gmock.h>

namespace slipway::nvidia {
namespace {

bool allows(const char* text, const char* version) {
  const auto wish = VersionWish::parse(text);
  EXPECT_TRUE(wish) << text;
  return wish && wish->allows(version);
}

TEST(VersionWish, ComparesByAsManyNumbersAsAreWritten) {
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

TEST(VersionWish, HoldsWhenAllBoundsDo) {
  EXPECT_TRUE(allows(">=535.200 <550", "535.261.03"));
  EXPECT_FALSE(allows(">=535.200 <550", "550.163.01"));
  EXPECT_FALSE(allows(">=535.200 <550", "535.183.06"));
  EXPECT_FALSE(allows(">= 535 != 535.261.03", "535.261.03"));
  EXPECT_TRUE(allows(">=535<550", "535.261.03"));
  EXPECT_TRUE(allows("latest", "580.82.07"));
  EXPECT_TRUE(allows("", "580.82.07"));
  EXPECT_FALSE(allows("latest", "stable"));
}

TEST(VersionWish, IsExactWithThreeNumbersOrNone) {
  EXPECT_TRUE(VersionWish::parse("535.261.03")->is_exact());
  EXPECT_TRUE(VersionWish::parse("")->is_exact());
  for (const char* text : {"535", "535.261", "latest", "<=535.261.03"})
    EXPECT_FALSE(VersionWish::parse(text)->is_exact()) << text;
}

TEST(VersionWish, OrdersByNearness) {
  EXPECT_THAT(VersionWish::parse("535.261.04")->nearest_first({"470.86", "535.261.03", "535.183.06", "580.82.07"}),
              ::testing::ElementsAre("535.261.03", "535.183.06", "580.82.07", "470.86"));
  EXPECT_THAT(VersionWish::parse("latest")->nearest_first({"470.86", "580.82.07"}),
              ::testing::ElementsAre("580.82.07", "470.86"));
}

TEST(VersionWish, IsNothingElse) {
  for (const char* text : {"newest", "535.", ".535", "535..1", "535.261.03.1", ">=", "=535", "535 550", "535,550",
                           ">>535", "latest 535", "5350000", "535.261.03-open"})
    EXPECT_FALSE(VersionWish::parse(text)) << text;
}

}  // namespace
}  // namespace slipway::nvidia
