// SPDX-License-Identifier: Apache-2.0
// A test program of which not all runs: what tests/check-skips has to see (skips.sh).
#include <gtest/gtest.h>

TEST(Sample, Passes) {}
TEST(Sample, LacksSomething) { GTEST_SKIP() << "there is no such thing here"; }
TEST(Sample, DISABLED_IsNotRun) {}
