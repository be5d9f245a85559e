// SPDX-License-Identifier: Apache-2.0
#include "driver/enroll/password_hash.hpp"

#include <gmock/gmock.h>

namespace slipway::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The first is from the algorithm's description; the others are what crypt(3) returns.
TEST(PasswordHash, IsThatOfCrypt) {
  EXPECT_EQ(sha512_crypt("Hello world!", "saltstring"),
            "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1");
  EXPECT_EQ(sha512_crypt(std::string(70, 'x'), "a1.Z/"),
            "$6$a1.Z/$gaY0qjIG.D5lfxTevXQffekoTJf3fozIEVinL5tjktn59voA1Fyhk3G5OzmbuItqGvnuYrSs1uuInHcMR6S041");
  EXPECT_EQ(
      sha512_crypt("p", "0123456789abcdef"),
      "$6$0123456789abcdef$pUoilKX2fNNXQM/D9bilo9FJQBKgG.7it1plknW1DYjJWacS2l/V1y6NNjjKYm3ccWsx6QlzdrJtbng1tFPwb/");
}

TEST(PasswordHash, HasANewSaltEachTime) {
  const auto one = hash_of_password("word");
  const auto two = hash_of_password("word");
  ASSERT_TRUE(one && two);
  EXPECT_THAT(*one, StartsWith("$6$"));
  EXPECT_NE(*one, *two);
}

TEST(PasswordHash, IsOfAPasswordThatCanBeTypedAndNoErrorQuotesIt) {
  EXPECT_TRUE(check_password("correct horse", "f"));
  for (const auto& wrong :
       {std::string(), std::string("one\ntwo-secret"), std::string("s\xc3\xa9same"), std::string(257, 'x')}) {
    const auto checked = check_password(wrong, "/root/word");
    ASSERT_FALSE(checked);
    EXPECT_THAT(to_text(checked.error()), HasSubstr("/root/word"));
    EXPECT_THAT(to_text(checked.error()), Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace slipway::driver
