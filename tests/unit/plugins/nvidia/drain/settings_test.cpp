// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::nvidia::drain {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

TEST(DrainSettings, AreAWordOrAnObject) {
  EXPECT_EQ(read_settings(nullptr, "drain")->policy, Policy::fail_fast);
  EXPECT_EQ(read_settings("wait", "drain")->deadline, seconds(600));
  const auto wait = read_settings({{"policy", "wait"}, {"deadline", "1h30m"}}, "drain");
  EXPECT_EQ(wait->policy, Policy::wait);
  EXPECT_EQ(wait->deadline, seconds(5400));
  EXPECT_EQ(read_settings({{"policy", "terminate"}, {"grace", "5s"}}, "drain")->grace, seconds(5));
  for (const char* word : {"fail-fast", "wait", "terminate", "when-idle", "next-boot"}) {
    const auto read = read_settings(word, "drain");
    ASSERT_TRUE(read.ok()) << word;
    EXPECT_EQ(read_settings(to_json(*read), "drain")->policy, read->policy);
  }
}

TEST(DrainSettings, RefuseKeysWithoutEffect) {
  const struct {
    Json value;
    const char* what;
  } cases[] = {
      {"wiat", "there is no drain policy wiat"},
      {7, "there is no drain policy 7"},
      {{{"policy", "wait"}, {"grace", "5s"}}, "`grace` has no effect with the drain policy wait"},
      {{{"deadline", "5s"}}, "`deadline` has no effect with the drain policy fail-fast"},
      {{{"policy", "wait"}, {"dedline", "5s"}}, "unknown key 'dedline' in drain"},
      {{{"policy", "wait"}, {"deadline", 5}}, "a duration is a string"},
      {{{"policy", "terminate"}, {"grace", "11m"}}, "the grace 11m is longer than 10m"},
      {"evict", "the drain policy evict needs slipway's agent"},
  };
  for (const auto& each : cases) {
    const auto read = read_settings(each.value, "drain");
    ASSERT_FALSE(read.ok()) << each.value;
    EXPECT_THAT(read.error().what, HasSubstr(each.what));
    EXPECT_FALSE(read.error().next.empty());
  }
}

TEST(DrainSettings, TakeDurationsOfWholeSeconds) {
  EXPECT_EQ(*parse_duration("90s", "x"), seconds(90));
  EXPECT_EQ(*parse_duration("2h1m1s", "x"), seconds(7261));
  for (const char* text : {"", "0s", "5", "s", "1.5h", "-1s", "5 m", "999999999h", "18446744073709551616s"})
    EXPECT_FALSE(parse_duration(text, "x").ok()) << text;
  EXPECT_EQ(to_text(seconds(7261)), "2h1m1s");
  EXPECT_EQ(to_text(seconds(600)), "10m");
}

}  // namespace
}  // namespace slipway::nvidia::drain
