// SPDX-License-Identifier: Apache-2.0
// A command's exit status is in the error's code, not in its text.
#include "core/exit_code.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace slipway::core {
namespace {

TEST(ExitCode, OfALockAndOfTheCommandLineIsUnique) {
  EXPECT_EQ(exit_code({ErrorCode::locked, "another slipway is changing this root", "/", {}, {}}), 75);
  EXPECT_EQ(exit_code({ErrorCode::usage, "there is no command 'aply'", "command line", {}, {}}), 64);
  EXPECT_EQ(exit_code({ErrorCode::usage, "SLIPWAY_SIM is wrong", "environment", {}, {}}), 64);
  // Before the fix, a mount in use was reported as another running slipway.
  EXPECT_EQ(exit_code(system_error("unmount", "/run/x", EBUSY)), 1);
  EXPECT_EQ(exit_code({ErrorCode::invalid, "the file is wrong", "command line", {}, {}}), 1);
}

}  // namespace
}  // namespace slipway::core
