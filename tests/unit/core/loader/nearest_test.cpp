// SPDX-License-Identifier: Apache-2.0
#include "core/loader/nearest.hpp"

#include <gtest/gtest.h>

namespace slipway::core {
namespace {

const std::vector<std::string> kKeys{"version", "modules", "source", "precompiled", "driver_root", "mig", "cdi", "gfd"};

TEST(Nearest, FindsWhatOneSlipOfTheFingersAwayWasMeant) {
  EXPECT_EQ(nearest("verson", kKeys), "version");    // left out
  EXPECT_EQ(nearest("versionn", kKeys), "version");  // doubled
  EXPECT_EQ(nearest("versoin", kKeys), "version");   // swapped
  EXPECT_EQ(nearest("Version", kKeys), "version");   // letter case
  EXPECT_EQ(nearest("driverRoot", kKeys), "driver_root");
  EXPECT_EQ(nearest("mgi", kKeys), "mig");
}

TEST(Nearest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("container", kKeys), "");
  EXPECT_EQ(nearest("x", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("xyz", kKeys), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'v'), kKeys), "");
}

TEST(Nearest, OfEverySingleEditOfALongWordIsThatWord) {
  const std::string word = "precompiled";
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::string changed = word, shorter = word;
    changed[i] = '#';
    shorter.erase(i, 1);
    EXPECT_EQ(nearest(changed, kKeys), word);
    EXPECT_EQ(nearest(shorter, kKeys), word);
    EXPECT_EQ(nearest(std::string(word).insert(i, "#"), kKeys), word);
  }
}

TEST(Joined, ReadsLikeASentence) {
  EXPECT_EQ(joined({}, "and"), "");
  EXPECT_EQ(joined({"a"}, "and"), "a");
  EXPECT_EQ(joined({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(joined({"a", "b", "c"}, "and"), "a, b and c");
}

}  // namespace
}  // namespace slipway::core
