// SPDX-License-Identifier: Apache-2.0
#include "dcgm/pods/background_question.hpp"

#include <atomic>
#include <semaphore>

#include <gtest/gtest.h>

namespace slipway::dcgm {
namespace {

using std::chrono::milliseconds;
constexpr std::chrono::seconds kLongEnough{20};

/// Counts the questions, and gives the test's answers.
struct Asked {
  std::atomic<int> questions = 0;
  std::atomic<int> answer = 1;
  std::counting_semaphore<> came{0};

  Result<int> ask() {
    ++questions;
    const int now = answer;
    came.release();
    if (now < 0) return Error{.what = "nobody answers"};
    return now;
  }
};

// Before the fix, kubelet was asked every ten seconds, even if a sample is taken once an hour.
TEST(KeptUpToDate, AsksAtOnceAndThenOnlyWhenItIsWanted) {
  Asked asked;
  KeptUpToDate<int> kept([&] { return asked.ask(); }, milliseconds(1), std::chrono::hours(1));
  ASSERT_TRUE(asked.came.try_acquire_for(kLongEnough));
  EXPECT_FALSE(asked.came.try_acquire_for(milliseconds(300)));
  EXPECT_EQ(asked.questions, 1);
  kept.ask();
  ASSERT_TRUE(asked.came.try_acquire_for(kLongEnough));
  EXPECT_EQ(asked.questions, 2);
}

TEST(KeptUpToDate, DoesNotAskTwiceInAMoment) {
  Asked asked;
  KeptUpToDate<int> kept([&] { return asked.ask(); }, std::chrono::hours(1), std::chrono::hours(1));
  ASSERT_TRUE(asked.came.try_acquire_for(kLongEnough));
  for (int i = 0; i < 10; ++i) kept.ask();
  EXPECT_FALSE(asked.came.try_acquire_for(milliseconds(300)));
  EXPECT_EQ(asked.questions, 1);
}

TEST(KeptUpToDate, RepeatsAnUnansweredQuestion) {
  Asked asked;
  asked.answer = -1;
  KeptUpToDate<int> kept([&] { return asked.ask(); }, milliseconds(10), std::chrono::hours(1));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(asked.came.try_acquire_for(kLongEnough));
  EXPECT_EQ(kept.known().problem, "nobody answers");
}

TEST(KeptUpToDate, ReportsAChangedAnswer) {
  Asked asked;
  std::counting_semaphore<> told{0};
  KeptUpToDate<int> kept([&] { return asked.ask(); }, milliseconds(1), std::chrono::hours(1));
  kept.on_change([&] { told.release(); });
  ASSERT_TRUE(asked.came.try_acquire_for(kLongEnough));
  std::this_thread::sleep_for(milliseconds(50));
  (void)told.try_acquire();  // for the first answer, when it came after on_change()
  kept.ask();
  ASSERT_TRUE(asked.came.try_acquire_for(kLongEnough));
  EXPECT_FALSE(told.try_acquire_for(milliseconds(300))) << "the same again is no news";
  asked.answer = 2;
  kept.ask();
  ASSERT_TRUE(told.try_acquire_for(kLongEnough));
  EXPECT_EQ(kept.known().value, 2);
}

}  // namespace
}  // namespace slipway::dcgm
