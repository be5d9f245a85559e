// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "nvidia/nvml/call_thread.hpp"

namespace slipway::nvidia::nvml {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Patience, ShrinksWithEachAbandonedCall) {
  Patience::Page page{};
  Patience patience(page);
  EXPECT_EQ(patience.limit(seconds(10)), seconds(5));
  EXPECT_EQ(patience.limit(seconds(2)), seconds(2));
  patience.note_timeout();
  EXPECT_EQ(patience.limit(seconds(10)), seconds(1));
  for (int i = 0; i < 3; ++i) patience.note_timeout();
  EXPECT_EQ(patience.limit(seconds(10)), milliseconds(200));
  // However often any call hangs, all waits of a command together are below 15 s.
  milliseconds all{};
  Patience::Page other{};
  Patience other_patience(other);
  for (int i = 0; i < 200; ++i) {
    all += other_patience.limit(seconds(10));
    other_patience.note_timeout();
  }
  EXPECT_LT(all, seconds(15));
}

// Each worker of a command has its own Patience, over one page.
TEST(Patience, IsSharedByAllWorkers) {
  Patience::Page page{};
  Patience one(page);
  const Patience other(page);
  one.set_hangs(4, true);
  one.set_hangs(64, true);  // more than the page has room for
  one.note_timeout();
  EXPECT_TRUE(other.hangs(4));
  EXPECT_FALSE(other.hangs(3));
  EXPECT_FALSE(other.hangs(64));
  EXPECT_EQ(other.limit(seconds(10)), seconds(1));
  one.set_hangs(4, false);
  EXPECT_FALSE(other.hangs(4));
}

}  // namespace
}  // namespace slipway::nvidia::nvml
