// SPDX-License-Identifier: Apache-2.0
#include "base/log/lines.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace slipway::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr system_clock::time_point kTime{milliseconds(1'767'225'600'042)};

LogEvent event(LogLevel level, std::string message) {
  LogEvent made;
  made.level = level;
  made.component = "mig";
  made.phase = "plan";
  made.generation = 7;
  made.message = std::move(message);
  return made;
}

TEST(PrintableText, IsOneLineThatMovesNoCursor) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b") << "CSI as one character, which some terminals obey";
  EXPECT_EQ(printable("a\n\x1b", true), "a\n\\x1b");
}

TEST(PrintableText, KeepsCharactersAndEscapesInvalidBytes) {
  EXPECT_EQ(printable("größer … 日本 🙂"), "größer … 日本 🙂");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "an overlong slash";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(TextLine, SaysTheComponentAndAWarning) {
  EXPECT_EQ(text_line(event(LogLevel::info, "load nvidia")), "mig: load nvidia");
  EXPECT_EQ(text_line(event(LogLevel::warning, "busy\n\x1b[1m")), "mig: warning: busy\\n\\x1b[1m");
  LogEvent own = event(LogLevel::debug, "here");
  own.component.clear();
  EXPECT_EQ(text_line(own), "here");
}

TEST(TextLine, OfAnErrorIsItsBlockWithoutForeignControls) {
  const Error error{ErrorCode::busy, "GPU 3 is \x1b[31mbusy", "host.yaml:14:18", "wait", {}};
  EXPECT_EQ(text_line(event_of(error, to_text(error))),
            "error: GPU 3 is \\x1b[31mbusy\n  at:    host.yaml:14:18\n  do:    wait");
}

TEST(JsonLine, HasTimeLevelComponentPhaseGenerationAndMessage) {
  EXPECT_EQ(json_line(event(LogLevel::warning, "busy"), kTime),
            R"({"time":"2026-01-01T00:00:00.042Z","level":"warning","component":"mig","phase":"plan","generation":7,)"
            R"("message":"busy"})");
}

TEST(JsonLine, LeavesOutUnknownFields) {
  LogEvent bare;
  bare.message = "here";
  EXPECT_EQ(json_line(bare, kTime), R"({"time":"2026-01-01T00:00:00.042Z","level":"info","message":"here"})");
}

TEST(JsonLine, IsAsciiForAnyMessage) {
  const std::string line = json_line(event(LogLevel::debug, "a\nb\x1b[0m\x7f\xc2\x9b\xff…"), kTime);
  EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c < 0x7F; })) << line;
  EXPECT_EQ(Json::parse(line)["message"], "a\nb\x1b[0m\x7f\xc2\x9b\xef\xbf\xbd…");
}

TEST(JsonLine, OfAnErrorHasTheWholeErrorBesideItsMessage) {
  const Error error{ErrorCode::busy, "GPU 3 is busy", "host.yaml:14:18", "wait", {}};
  const Json line = Json::parse(json_line(event_of(error, to_text(error)), kTime));
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["message"], "GPU 3 is busy");
  EXPECT_EQ(line["error"], to_json(error));
}

TEST(PriorityLine, BeginsWithTheNumberOfItsLevel) {
  EXPECT_EQ(priority_line(event(LogLevel::error, "a")), "<3>mig: a");
  EXPECT_EQ(priority_line(event(LogLevel::warning, "a\nb")), "<4>mig: a\\nb");
  EXPECT_EQ(priority_line(event(LogLevel::info, "a")), "<6>mig: a");
  EXPECT_EQ(priority_line(event(LogLevel::debug, "a")), "<7>mig: a");
  const Error error{ErrorCode::busy, "busy", {}, "wait", {}};
  EXPECT_EQ(priority_line(event_of(error, to_text(error))), "<3>error: busy\\n  do:    wait");
}

}  // namespace
}  // namespace slipway::base
