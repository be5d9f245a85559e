// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/front/direct_service.hpp"

namespace slipway::cli {
namespace {

TEST(ServiceWords, AreThoseOfAUnit) {
  const auto plain = service_words({"service", "gfd", "--boot"}, nullptr);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->component, "gfd");
  EXPECT_EQ(plain->root, "/");
  EXPECT_EQ(plain->log, base::LogSettings{});
  const auto more = service_words({"service", "gfd", "--root", "/host", "--boot", "--cache", "/c", "-v"}, nullptr);
  ASSERT_TRUE(more);
  EXPECT_EQ(more->root, "/host");
  EXPECT_EQ(more->log.level, base::LogLevel::debug);
  EXPECT_FALSE(more->condition);
  const auto asked = service_words({"service", "gfd", "--boot", "--condition"}, nullptr);
  ASSERT_TRUE(asked);
  EXPECT_TRUE(asked->condition);
}

TEST(ServiceWords, LeaveEverythingElseToTheProgramForAllCommands) {
  EXPECT_FALSE(service_words({}, nullptr));
  EXPECT_FALSE(service_words({"service", "--boot"}, nullptr));
  EXPECT_FALSE(service_words({"service", "gfd"}, nullptr));
  EXPECT_FALSE(service_words({"service", "gfd", "-f", "host.yaml"}, nullptr));
  EXPECT_FALSE(service_words({"service", "../gfd", "--boot"}, nullptr));
  EXPECT_FALSE(service_words({"service", "gfd", "--boot", "--sim", "h100x8"}, nullptr));
  EXPECT_FALSE(service_words({"service", "gfd", "--boot", "--root"}, nullptr));
  EXPECT_FALSE(service_words({"apply", "--boot", "gfd"}, nullptr));
}

TEST(ServiceWords, SelectTheLogFormat) {
  const auto read = service_words({"service", "gfd", "--boot", "--log-format", "json"}, "warning");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->log, (base::LogSettings{base::LogFormat::json, base::LogLevel::warning}));
  EXPECT_FALSE(service_words({"service", "gfd", "--boot", "--log-format", "xml"}, nullptr));
  EXPECT_FALSE(service_words({"service", "gfd", "--boot"}, "loud"));
}

}  // namespace
}  // namespace slipway::cli
