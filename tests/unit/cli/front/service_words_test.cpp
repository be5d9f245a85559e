// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/front/direct_service.hpp"

namespace slipway::core {
namespace {

TEST(ServiceWords, AreThoseOfAUnit) {
  const auto plain = service_words({"service", "gfd", "--boot"});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->component, "gfd");
  EXPECT_EQ(plain->root, "/");
  EXPECT_FALSE(plain->debug);
  const auto more = service_words({"service", "gfd", "--root", "/host", "--boot", "--cache", "/c", "-v"});
  ASSERT_TRUE(more);
  EXPECT_EQ(more->root, "/host");
  EXPECT_TRUE(more->debug);
}

TEST(ServiceWords, LeaveEverythingElseToTheProgramForAllCommands) {
  EXPECT_FALSE(service_words({}));
  EXPECT_FALSE(service_words({"service", "--boot"}));
  EXPECT_FALSE(service_words({"service", "gfd"}));
  EXPECT_FALSE(service_words({"service", "gfd", "-f", "host.yaml"}));
  EXPECT_FALSE(service_words({"service", "../gfd", "--boot"}));
  EXPECT_FALSE(service_words({"service", "gfd", "--boot", "--sim", "h100x8"}));
  EXPECT_FALSE(service_words({"service", "gfd", "--boot", "--root"}));
  EXPECT_FALSE(service_words({"apply", "--boot", "gfd"}));
}

}  // namespace
}  // namespace slipway::core
