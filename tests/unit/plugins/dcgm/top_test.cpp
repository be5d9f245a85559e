// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "base/command_line/read_words.hpp"
#include "dcgm/top/line.hpp"
#include "dcgm/top/screen.hpp"
#include "tests/unit/plugins/dcgm/overview_maker.hpp"

namespace slipway::dcgm {
namespace {

using testing::gpu_with_everything;
using testing::gpu_with_instances;
using ::testing::HasSubstr;
using testing::kHostile;
using ::testing::Not;
using testing::overview_of;

Overview whole() {
  GpuOverview bad = gpu_with_everything(1, kHostile);
  bad.level = Level::bad;
  bad.reasons = {{"GPU-1", Level::bad, "XID 79 at 22:13:20 UTC: the GPU has fallen off the bus and no longer exists",
                  "reset it; when that does not help, have the board looked at by whoever sold it"}};
  bad.details.reset();
  GpuOverview slow = gpu_with_everything(2, "train");
  slow.level = Level::attention;
  return overview_of({gpu_with_everything(0, "python3"), bad, slow, gpu_with_instances(12, 3)});
}

std::string text_of(const ScreenLook& look, const Overview& overview = whole()) {
  return joined(screen_lines(overview, look, "own samples; q quits"), "\n");
}

TEST(TopScreen, ShowsAllOfAGpu) {
  const std::string text = text_of({.columns = 80});
  for (const char* shown : {"node-1  22:13:20 UTC  driver 550.90.07", "4 x NVIDIA H100", "42%", "12.0/80.0 GiB", "61C",
                            "340/700W", "1755MHz", "  ok", "  attention", "no values", "bad: XID 79", "do: reset it",
                            "|1g.10gb|1g.10gb|", "MIG 7", "active 50%", "4711", "team-a/python3, container main"})
    EXPECT_THAT(text, HasSubstr(shown));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(TopScreen, IsNeverWiderOrHigherThanTheTerminal) {
  for (const std::size_t columns : {40U, 60U, 80U, 81U, 107U, 108U, 132U, 250U})
    for (const bool utf8 : {false, true})
      for (const std::string& line : screen_lines(whole(), {.columns = columns, .utf8 = utf8}, std::string(300, 'n')))
        EXPECT_LE(width_of(line), columns) << line;
  for (const std::size_t rows : {1U, 2U, 5U, 24U}) {
    const auto lines = screen_lines(whole(), {.columns = 80, .rows = rows}, "");
    EXPECT_LE(lines.size(), std::max<std::size_t>(rows, 2));
    if (rows < 10) {
      EXPECT_THAT(lines.back(), HasSubstr("more lines"));
    }
  }
  EXPECT_FALSE(screen_lines(whole(), {.columns = 0, .rows = 1}, "").empty());
}

TEST(TopScreen, HasColoursByMeaningAndOnlyWhereTheyAreShown) {
  const std::string text = text_of({.columns = 80, .colour = true});
  EXPECT_THAT(text, HasSubstr("\x1b[31mbad\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[33mattention\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[32mok\x1b[0m"));
}

TEST(TopScreen, EscapesCursorMoves) {
  Overview overview = overview_of({gpu_with_everything(0, kHostile)}, kHostile);
  overview.problem = overview.driver_version = kHostile;
  overview.gpus[0].gpu.model = kHostile;
  overview.gpus[0].reasons = {{"GPU-0", Level::bad, kHostile, kHostile}};
  for (const char c : text_of({.columns = 80}, overview)) EXPECT_TRUE((c >= ' ' && c <= '~') || c == '\n') << +c;
}

TEST(TopScreen, HasTheLastTenMinutesWhereThereIsRoom) {
  EXPECT_THAT(text_of({.columns = 120}), HasSubstr("LAST 10 MIN"));
  EXPECT_THAT(text_of({.columns = 120}), HasSubstr("========"));
  EXPECT_THAT(text_of({.columns = 120, .utf8 = true}), HasSubstr("\u2584\u2584\u2584"));
  EXPECT_THAT(text_of({.columns = 80}), Not(HasSubstr("LAST 10 MIN")));
}

TEST(TopScreen, SaysThatProcessesAreLeftOut) {
  Overview overview = whole();
  overview.shows_processes = false;
  EXPECT_THAT(text_of({.columns = 80}, overview), HasSubstr("leaves processes out"));
}

Result<TopOptions> options(const std::vector<std::string>& words, bool draws = true) {
  const auto read = command_line::read_words(top_line(), words, [](const std::string&) { return std::nullopt; });
  if (!read) return read.error();
  return read_top_options(*read, draws);
}

TEST(TopOptions, AreReadAsTheyAreWritten) {
  EXPECT_TRUE(options({})->interval == std::nullopt);
  EXPECT_EQ(options({"--interval", "500ms"})->interval, std::chrono::milliseconds(500));
  EXPECT_TRUE(options({"-o", "json"})->json);
  EXPECT_EQ(options({"--service", "127.0.0.1:9500"})->service->port, 9500);
}

TEST(TopOptions, RefuseWhatWouldHaveNoEffect) {
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"--once", "--interval", "1s"}, Words{"-o", "json", "--interval", "1s"},
                             Words{"-o", "yaml"}, Words{"--service", "here"}, Words{"--service", ":9400"},
                             Words{"--service", "127.0.0.1:1", "--direct"}, Words{"--sim", "h100x8", "--direct"},
                             Words{"--sim", "l4x1", "--service", "127.0.0.1:1"}, Words{"--sim", ""}, Words{"more"}})
    EXPECT_EQ(options(words).error().code, ErrorCode::usage) << joined(words, " ");
  EXPECT_EQ(options({"--interval", "1s"}, false).error().code, ErrorCode::usage) << "a pipe gets one";
  EXPECT_EQ(options({"--interval", "soon"}).error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace slipway::dcgm
