// SPDX-License-Identifier: Apache-2.0
#include "gfd/pass_schedule.hpp"

#include <gtest/gtest.h>

namespace slipway::gfd {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Clock = PassSchedule::Clock;

struct PassScheduleTest : ::testing::Test {
  PassScheduleTest() { schedule.begin(now); }
  /// Returns the number of passes that begin in that time. @param touched  a file changes ten times a second
  int passes_in(std::chrono::seconds time, bool touched) {
    int count = 0;
    for (const auto end = now + time; now < end; now += milliseconds(100)) {
      if (touched) schedule.files_changed(now);
      if (!schedule.is_due(now)) continue;
      schedule.begin(now);
      ++count;
    }
    return count;
  }
  PassSchedule schedule{minutes(1)};
  Clock::time_point now = Clock::now();
};

TEST_F(PassScheduleTest, ComesOnceInEachInterval) { EXPECT_EQ(passes_in(minutes(10), false), 9); }

TEST_F(PassScheduleTest, ComesAtOnceAndOnceMoreWhenAFileHasChanged) {
  now += seconds(20);
  schedule.files_changed(now);
  EXPECT_TRUE(schedule.is_due(now));
  schedule.begin(now);
  EXPECT_EQ(schedule.due(), now + seconds(3));
  schedule.begin(now + seconds(3));
  EXPECT_EQ(schedule.due(), now + seconds(63));
}

// Before the fix, NVML was opened once a second for as long as any process touched the nodes.
TEST_F(PassScheduleTest, BecomesRarerWhileFilesChangeAgainAndAgain) {
  EXPECT_LE(passes_in(minutes(1), true), 6) << "after 1, 2, 4, 8, 16 and 32 seconds";
  EXPECT_LE(passes_in(minutes(10), true), 19);
}

// Before the fix, a user who knew the gap could keep it short: by changing a file just after four gaps.
TEST_F(PassScheduleTest, IsNotShortenedByTimedChanges) {
  for (const milliseconds pause : {milliseconds(4100), milliseconds(8200), milliseconds(16200), milliseconds(33000)}) {
    schedule = PassSchedule(minutes(1));
    schedule.begin(now);
    int count = 0;
    auto next = now;
    for (const auto end = now + minutes(60); now < end; now += milliseconds(100)) {
      if (now >= next) {
        schedule.files_changed(now);
        next = now + pause;
      }
      if (!schedule.is_due(now)) continue;
      schedule.begin(now);
      ++count;
    }
    EXPECT_LE(count, 125) << pause.count() << " ms";
  }
}

TEST_F(PassScheduleTest, ComesAtOnceAgainAfterAQuietTime) {
  passes_in(minutes(3), true);
  passes_in(seconds(100), false);
  schedule.begin(now);
  now += seconds(10);
  schedule.files_changed(now);
  EXPECT_FALSE(schedule.is_due(now)) << "less than two minutes of quiet are not enough after three minutes of changes";
  passes_in(minutes(3), false);
  schedule.begin(now);
  now += seconds(10);
  schedule.files_changed(now);
  EXPECT_TRUE(schedule.is_due(now));
}

TEST(PassScheduleOnce, HasOnePassWithoutAnInterval) {
  PassSchedule schedule(std::nullopt);
  EXPECT_TRUE(schedule.is_due(Clock::now()));
  schedule.begin(Clock::now());
  EXPECT_FALSE(schedule.due());
}

}  // namespace
}  // namespace slipway::gfd
