// SPDX-License-Identifier: Apache-2.0
// A test program with tests that do not run, which tests/check-skips must detect (skips.sh).
#include <gtest/gtest.h>

TEST(Sample, Passes) {}
TEST(Sample, LacksSomething) { GTEST_SKIP() << "there is no such thing here"; }
TEST(Sample, DISABLED_IsNotRun) {}
