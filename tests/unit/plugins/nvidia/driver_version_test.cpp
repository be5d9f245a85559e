// SPDX-License-Identifier: Apache-2.0
#include "nvidia/driver_version.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace slipway::nvidia {
namespace {

DriverVersion version(std::string_view text) {
  const auto parsed = DriverVersion::parse(text);
  EXPECT_TRUE(parsed) << text;
  return *parsed;
}

TEST(DriverVersion, ComparesFieldByFieldAsNumbers) {
  EXPECT_LT(version("535.54.03"), version("535.261.03"));
  EXPECT_LT(version("470.256.02"), version("535.54.03"));
  EXPECT_LT(version("390.157"), version("390.157.01"));
  EXPECT_LT(version("595.45.04"), version("610.43.03"));
}

TEST(DriverVersion, IsEqualHoweverTheZerosAreWrittenAndKeepsItsText) {
  EXPECT_EQ(version("535.261.3"), version("535.261.03"));
  EXPECT_EQ(version("535.261.03").text(), "535.261.03");
  EXPECT_EQ(version("535.261.03").branch(), 535U);
}

TEST(DriverVersion, RefusesInvalidVersions) {
  for (const auto* text : {"", "535", "535.", ".535.1", "535.261.03.1", "535.261.03 ", " 535.261.03", "535.261.03-1",
                           "v535.1", "535..1", "535.+1", "535.0x1", "535.12345", "5.1", "535.261.03\n"})
    EXPECT_FALSE(DriverVersion::parse(text)) << text;
}

TEST(DriverVersion, TakesEveryTextThatItPrintsAndNoOther) {
  std::mt19937 random{535};
  const std::string alphabet = "0123456789..5";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto length = random() % 12; length > 0; --length) text += alphabet[random() % alphabet.size()];
    const auto parsed = DriverVersion::parse(text);
    if (!parsed) continue;
    EXPECT_EQ(parsed->text(), text);
    EXPECT_EQ(std::ranges::count(text, '.') + 1, text.find('.') == text.rfind('.') ? 2 : 3);
    EXPECT_EQ(std::to_string(parsed->branch()), std::to_string(std::stoul(text)));
  }
}

TEST(DriverVersion, SortsInvalidVersionsFirst) {
  std::vector<std::string> texts{"535.261.03", "latest", "535.54.03", "470.1", "abc"};
  std::ranges::sort(texts, version_less);
  EXPECT_EQ(texts, (std::vector<std::string>{"abc", "latest", "470.1", "535.54.03", "535.261.03"}));
}

}  // namespace
}  // namespace slipway::nvidia
