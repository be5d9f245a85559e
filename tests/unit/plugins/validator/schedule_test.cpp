// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "validator/service/look_schedule.hpp"

namespace slipway::validator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = LookSchedule::Clock;

/// Returns the number of NVML calls in that time, when nothing happens.
int looks_in(LookSchedule& looks, Clock::time_point& now, seconds time, bool works) {
  int count = 0;
  for (const auto end = now + time; looks.due() < end; ++count) {
    now = std::max(now, looks.due());
    looks.looked(now, works, false);
  }
  return count;
}

struct AtRest : ::testing::Test {
  AtRest() { looks.looked(now, true, true); }
  Clock::time_point now = Clock::now();
  LookSchedule looks;
};

using LookScheduleTest = AtRest;

TEST(LookScheduleStart, TheFirstLookIsDueAtOnce) { EXPECT_TRUE(LookSchedule().is_due(Clock::now())); }

TEST_F(LookScheduleTest, AsksADriverThatWorksOnceAMinute) { EXPECT_EQ(looks_in(looks, now, seconds(601), true), 10); }

TEST_F(LookScheduleTest, AsksADriverThatDoesNotWorkSoonAndThenEachTenSeconds) {
  looks.looked(now, false, true);
  EXPECT_EQ(looks_in(looks, now, seconds(16), false), 4) << "after 1, 2, 4 and 8 seconds";
  EXPECT_EQ(looks_in(looks, now, seconds(101), false), 10);
}

TEST_F(LookScheduleTest, AsksAtOnceAndOnceMoreWhenTheDriverHasChanged) {
  now += seconds(20);
  EXPECT_FALSE(looks.is_due(now));
  looks.driver_changed(now);
  EXPECT_TRUE(looks.is_due(now));
  looks.looked(now, true, false);
  EXPECT_EQ(looks.due(), now + seconds(1)) << "the log is quicker than the driver's state";
  looks.looked(looks.due(), true, false);
  EXPECT_EQ(looks.due(), now + seconds(61));
}

TEST_F(LookScheduleTest, LooksAreASecondApartForAnyLoad) {
  now += seconds(20);
  int count = 0;
  for (const auto end = now + seconds(10); now < end; now += milliseconds(10)) {
    looks.driver_changed(now);
    if (!looks.is_due(now)) continue;
    looks.looked(now, true, false);
    ++count;
  }
  EXPECT_EQ(count, 10);
}

// A program that makes the driver write lines all the time makes the service check needlessly.
TEST_F(LookScheduleTest, AsksLessAndLessOftenForLinesThatChangeNothing) {
  now += seconds(20);
  int count = 0;
  for (const auto end = now + seconds(600); now < end; now += milliseconds(100)) {
    looks.driver_logged(now);
    if (!looks.is_due(now)) continue;
    looks.looked(now, true, false);
    ++count;
  }
  EXPECT_LE(count, 17);
  EXPECT_GE(count, 10) << "not less often than at rest";
  looks.driver_changed(now);
  EXPECT_LE(looks.due(), now + seconds(1));
}

TEST(RoundScheduleTest, ComesEachTenSecondsAndWhenAFileChanges) {
  RoundSchedule rounds;
  auto now = Clock::now();
  EXPECT_TRUE(rounds.is_due(now));
  rounds.begin(now, true);
  EXPECT_EQ(rounds.due(), now + seconds(10));
  now += seconds(3);
  rounds.files_changed(now);
  EXPECT_TRUE(rounds.is_due(now));
  rounds.begin(now, true);
  EXPECT_EQ(rounds.due(), now + seconds(2)) << "once more: it may not have been complete";
  rounds.begin(rounds.due(), true);
  EXPECT_EQ(rounds.due(), now + seconds(12));
}

TEST(RoundScheduleTest, ComesAtMostFourTimesASecond) {
  RoundSchedule rounds;
  auto now = Clock::now();
  int count = 0;
  for (const auto end = now + seconds(10); now < end; now += milliseconds(1)) {
    rounds.files_changed(now);
    if (!rounds.is_due(now)) continue;
    rounds.begin(now, true);
    ++count;
  }
  EXPECT_EQ(count, 40);
}

TEST(RoundScheduleTest, ComesEachSecondWhereChangesDoNotWakeIt) {
  RoundSchedule rounds;
  const auto now = Clock::now();
  rounds.begin(now, false);
  EXPECT_EQ(rounds.due(), now + seconds(1));
}

}  // namespace
}  // namespace slipway::validator
