// SPDX-License-Identifier: Apache-2.0
#include "mig/profile/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::mig {
namespace {

using ::testing::HasSubstr;

TEST(MigProfile, ReadsEveryKindOfName) {
  for (const char* name : {"1g.5gb", "7g.80gb", "1c.3g.20gb", "2c.7g.40gb", "1g.10gb+me", "1g.24gb+gfx",
                           "1g.24gb+me.all", "2g.48gb-me", "1g.0gb", "1c.2g.12gb+me", "1g.10gb+gfx,me"}) {
    const auto profile = parse_profile(name, "here");
    ASSERT_TRUE(profile.ok()) << name;
    EXPECT_EQ(profile->text(), name);
  }
}

TEST(MigProfile, ComparesByMeaning) {
  EXPECT_EQ(*parse_profile("1c.1g.5gb", ""), *parse_profile("1g.5gb", ""));
  EXPECT_EQ(parse_profile("3c.3g.20gb", "")->text(), "3g.20gb");
  EXPECT_EQ(*parse_profile("1g.10gb+me,gfx", ""), *parse_profile("1g.10gb+gfx,me", ""));
  EXPECT_NE(*parse_profile("1g.10gb+me", ""), *parse_profile("1g.10gb-me", ""));
  EXPECT_NE(*parse_profile("1g.10gb", ""), *parse_profile("1g.20gb", ""));
  EXPECT_EQ(parse_profile("1c.3g.20gb", "")->gpu_instance(), *parse_profile("3g.20gb", ""));
}

TEST(MigProfile, RefusesInvalidNames) {
  for (const char* name : {"",
                           "1g",
                           "1g.",
                           "g.5gb",
                           "1g.5",
                           "1g.5GB",
                           "1G.5gb",
                           "1g.5gb ",
                           " 1g.5gb",
                           "1 g.5gb",
                           "0g.5gb",
                           "0c.1g.5gb",
                           "2c.1g.5gb",
                           "c.1g.5gb",
                           "1c1g.5gb",
                           "-1g.5gb",
                           "+1g.5gb",
                           "1g.-5gb",
                           "1g.5gb+",
                           "1g.5gb-",
                           "1g.5gb+me-gfx",
                           "1g.5gb+me+gfx",
                           "1g.5gb+me,",
                           "1g.5gb+,me",
                           "1g.5gb+me,me",
                           "1g.5gb+1me",
                           "1g.5gb+.me",
                           "1g.5gb+me.",
                           "1g.5gb+m_e",
                           "1g.5gb.me",
                           "1g.5gbme",
                           "99999999999g.5gb",
                           "1g.99999999999gb",
                           "\xff\xfe"}) {
    const auto profile = parse_profile(name, "config.yaml:3:5");
    ASSERT_FALSE(profile.ok()) << name << " became " << profile->text();
    EXPECT_EQ(profile.error().where, "config.yaml:3:5");
    EXPECT_THAT(profile.error().what, HasSubstr("is not a MIG profile: ")) << name;
    EXPECT_FALSE(profile.error().next.empty());
  }
}

TEST(MigProfile, ShortensALongName) {
  const auto profile = parse_profile(std::string(1 << 20, 'x'), "here");
  ASSERT_FALSE(profile.ok());
  EXPECT_LT(profile.error().what.size(), 400U);
}

}  // namespace
}  // namespace slipway::mig
