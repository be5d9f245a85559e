// SPDX-License-Identifier: Apache-2.0
#include "base/log/settings.hpp"

#include <gmock/gmock.h>

namespace slipway::base {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(LogSettings, AreTextAndInfoByDefault) {
  EXPECT_EQ(*read_log_settings("", false, nullptr), (LogSettings{LogFormat::text, LogLevel::info}));
  EXPECT_EQ(*read_log_settings("text", false, ""), (LogSettings{LogFormat::text, LogLevel::info}));
  EXPECT_EQ(*read_log_settings("json", false, "error"), (LogSettings{LogFormat::json, LogLevel::error}));
}

TEST(LogSettings, HaveTheLevelOfTheVariableAndOfTheOptionBeforeIt) {
  EXPECT_EQ(read_log_settings("", false, "warning")->level, LogLevel::warning);
  EXPECT_EQ(read_log_settings("", false, "info")->level, LogLevel::info);
  EXPECT_EQ(read_log_settings("", false, "debug")->level, LogLevel::debug);
  EXPECT_EQ(read_log_settings("", true, "error")->level, LogLevel::debug);
}

TEST(LogSettings, ThatAreInvalidAreNamedWithTheAllowedValues) {
  const auto format = read_log_settings("xml", false, nullptr);
  ASSERT_FALSE(format);
  EXPECT_THAT(to_text(format.error()), AllOf(HasSubstr("--log-format xml"), HasSubstr("text or json")));
  const auto level = read_log_settings("", true, "loud");
  ASSERT_FALSE(level) << "-v does not make a wrong variable right";
  EXPECT_THAT(to_text(level.error()),
              AllOf(HasSubstr("SLIPWAY_LOG is 'loud'"), HasSubstr("error, warning, info or debug")));
}

TEST(LogSettings, AreKnownBeforeTheWordsAreRead) {
  EXPECT_EQ(log_format_of({"apply", "--log-format", "json", "--wrong"}), LogFormat::json);
  EXPECT_EQ(log_format_of({"apply", "--log-format=json"}), LogFormat::json);
  EXPECT_EQ(log_format_of({"apply", "--log-format"}), LogFormat::text);
  EXPECT_EQ(log_format_of({"apply", "--log-formatjson"}), LogFormat::text);
  EXPECT_EQ(log_format_of({"apply", "--", "--log-format", "json"}), LogFormat::text);
}

}  // namespace
}  // namespace slipway::base
