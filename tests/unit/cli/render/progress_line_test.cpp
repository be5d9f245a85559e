// SPDX-License-Identifier: Apache-2.0
#include "cli/render/progress_line.hpp"

#include <gmock/gmock.h>

#include <slipway/text.hpp>

namespace slipway::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::uint64_t kMiB = 1 << 20;
const ProgressMeter::Time kBegin{std::chrono::hours(5)};

/// Returns the meter of a step with this progress, in MiB at these times after its start.
ProgressMeter unpacked_to(const std::vector<std::pair<std::chrono::milliseconds, std::uint64_t>>& reports,
                          std::uint64_t total, const std::string& label = "unpack userspace") {
  ProgressMeter meter("driver");
  for (const auto& [time, done] : reports) meter.report({label, done * kMiB, total * kMiB}, kBegin + time);
  return meter;
}

ProgressMeter compiled_to(std::chrono::milliseconds time, std::uint64_t files, std::uint64_t total = 0) {
  ProgressMeter meter("driver");
  meter.report({"compiling nvidia: a.c", 0, 0, core::Progress::Unit::files}, kBegin);
  meter.report({"compiling nvidia: nv-dma.c", files, total, core::Progress::Unit::files}, kBegin + time);
  return meter;
}

TEST(ProgressLine, ReportsAmountRateAndRemainingTime) {
  EXPECT_EQ(unpacked_to({{0s, 0}, {1s, 60}, {2s, 120}}, 360).line(100),
            "driver: unpack userspace [########................] 120.0 of 360.0 MiB  60.0 MiB/s  4 s left");
}

TEST(ProgressLine, HasNoRateInTheFirstHalfSecond) {
  EXPECT_THAT(unpacked_to({{0s, 0}, {499ms, 60}}, 360).line(100), EndsWith(" 60.0 of 360.0 MiB"));
  EXPECT_THAT(unpacked_to({{0s, 0}, {500ms, 60}}, 360).line(100), EndsWith(" 120.0 MiB/s  3 s left"));
  EXPECT_THAT(unpacked_to({{0s, 60}, {0s, 90}}, 360).line(100), EndsWith(" 90.0 of 360.0 MiB"));
  EXPECT_THAT(ProgressMeter("driver").line(80), HasSubstr("0 B"));
}

TEST(ProgressLine, HasTheRateOfTheLastSeconds) {
  const ProgressMeter slower = unpacked_to({{0s, 0}, {1s, 100}, {2s, 200}, {3s, 210}, {7s, 250}}, 350);
  EXPECT_THAT(slower.line(100), EndsWith("250.0 of 350.0 MiB  10.0 MiB/s  10 s left"));
}

TEST(ProgressLine, ExcludesEarlierBytesFromTheRate) {
  EXPECT_THAT(unpacked_to({{100ms, 300}, {1100ms, 310}}, 360).line(100), EndsWith("  10.0 MiB/s  5 s left"));
}

TEST(ProgressLine, BeginsAgainWithARepeatedTransfer) {
  EXPECT_THAT(unpacked_to({{0s, 0}, {1s, 100}, {2s, 50}}, 360).line(100), EndsWith(" 50.0 of 360.0 MiB"));
  EXPECT_THAT(unpacked_to({{0s, 0}, {1s, 100}, {2s, 50}, {3s, 60}}, 360).line(100), HasSubstr("  10.0 MiB/s"));
}

TEST(ProgressLine, HasNoTimeWithoutProgress) {
  EXPECT_THAT(unpacked_to({{0s, 10}, {5s, 10}}, 360).line(100), EndsWith("10.0 of 360.0 MiB  0 B/s"));
}

TEST(ProgressLine, OfAnUnknownTotalHasTheAmountAndTheRate) {
  EXPECT_EQ(unpacked_to({{0s, 0}, {2s, 120}}, 0).line(100), "driver: unpack userspace  120.0 MiB  60.0 MiB/s");
}

TEST(ProgressLine, IsASentenceInALog) {
  EXPECT_EQ(unpacked_to({{0s, 0}, {1s, 60}, {2s, 120}}, 360).progress_text(),
            "unpack userspace: 120.0 of 360.0 MiB, 60.0 MiB/s, 4 s left");
  EXPECT_EQ(unpacked_to({{0s, 0}, {2s, 120}}, 0).progress_text(), "unpack userspace: 120.0 MiB, 60.0 MiB/s");
}

TEST(ProgressLine, CountsFilesAsFiles) {
  EXPECT_EQ(compiled_to(10s, 25).line(100), "driver: compiling nvidia: nv-dma.c  25 files  2.5 files/s");
  EXPECT_EQ(compiled_to(100ms, 1).line(100), "driver: compiling nvidia: nv-dma.c  1 file");
  EXPECT_THAT(compiled_to(10s, 100, 200).line(100), EndsWith("] 100 of 200 files  10 files/s  10 s left"));
}

TEST(ProgressLine, TakesTheUnitInWhichNumbersAreShort) {
  ProgressMeter meter("");
  meter.report({"a", 100, 1000}, kBegin);
  EXPECT_THAT(meter.line(80), AllOf(StartsWith("a ["), EndsWith("] 100 of 1000 B")));
  meter.report({"a", 1536, 2048}, kBegin + 1s);
  EXPECT_THAT(meter.line(80), EndsWith("] 1.5 of 2.0 KiB  1.4 KiB/s  1 s left"));
  meter.report({"a", 1536 * kMiB, 10240 * kMiB}, kBegin + 100s);
  EXPECT_THAT(meter.line(80), EndsWith("] 1.5 of 10.0 GiB  15.5 MiB/s  9 min 22 s left"));
}

TEST(ProgressLine, IsNeverWiderThanTheTerminal) {
  const std::string label = "download registry.example/a/very/long/name/with-\u00fc/of/a/driver/package";
  const ProgressMeter meter = unpacked_to({{0s, 0}, {1s, 60}}, 1'000'000, label);
  const ProgressMeter unknown = unpacked_to({{0s, 0}, {1s, 60}}, 0, label);
  for (std::size_t columns = 0; columns <= 160; ++columns) {
    EXPECT_LE(width_of(meter.line(columns)), columns) << meter.line(columns);
    EXPECT_LE(width_of(unknown.line(columns)), columns) << unknown.line(columns);
  }
}

TEST(ProgressLine, DropsTheBarFirstAndThenTheTime) {
  const ProgressMeter meter = unpacked_to({{0s, 0}, {1s, 60}, {2s, 120}}, 360, "unpack 'userspace' (0123456789ab)");
  EXPECT_EQ(meter.line(80), "driver: unpack 'users... [####........] 120.0 of 360.0 MiB  60.0 MiB/s  4 s left");
  EXPECT_EQ(meter.line(70), "driver: unpack 'userspace...  120.0 of 360.0 MiB  60.0 MiB/s  4 s left");
  EXPECT_EQ(meter.line(46), "driver: unpack 'userspa...  120.0 of 360.0 MiB");
}

TEST(ProgressLine, EscapesControlsInItsText) {
  EXPECT_THAT(unpacked_to({{0s, 1}}, 2, "unpack \x1b[2J\r\n").line(100), Not(HasSubstr("\x1b")));
}

TEST(ProgressSummary, ReportsAmountAndTime) {
  EXPECT_EQ(unpacked_to({{0s, 0}, {1s, 60}, {3500ms, 345}}, 345).summary(),
            "unpacked userspace: 345.0 MiB in 3.5 s, 98.6 MiB/s");
  EXPECT_EQ(unpacked_to({{0s, 0}, {125s, 250}}, 250, "download x").summary(),
            "downloaded x: 250.0 MiB in 2 min 05 s, 2.0 MiB/s");
  EXPECT_EQ(unpacked_to({{0s, 5}}, 5, "unpacking the driver").summary(), "unpacked the driver: 5.0 MiB");
  EXPECT_EQ(unpacked_to({{0s, 5}}, 5, "saying").summary(), "saying done: 5.0 MiB");
  EXPECT_EQ(compiled_to(65s, 130, 130).summary(), "compiled nvidia: 130 files in 1 min 05 s, 2.0 files/s");
}

TEST(Shortened, LeavesOutTheMiddleBetweenCharacters) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghij", 8), "abcde...");
  EXPECT_EQ(shortened("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 5), "\u00e4\u00f6...");
  EXPECT_EQ(shortened("abcdefghij", 2), "..");
  EXPECT_EQ(shortened("", 0), "");
}

}  // namespace
}  // namespace slipway::cli
