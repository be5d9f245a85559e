// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/engine/plugin_calls.hpp"

namespace slipway::core {
namespace {

// Before the fix, a worker could shorten the page, and the others, which map it, crashed with SIGBUS.
TEST(RunPage, CanBeWrittenAndNotMadeShorterOrLonger) {
  const RunPage page;
  const std::string variable = page.environment();
  const std::string file = variable.substr(variable.find('=') + 1);
  ASSERT_FALSE(file.empty());
  const Fd opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(opened);
  EXPECT_EQ(::pwrite(opened.get(), "x", 1, 0), 1);
  EXPECT_NE(::ftruncate(opened.get(), 0), 0);
  EXPECT_NE(::ftruncate(opened.get(), 1 << 20), 0);
  EXPECT_NE(::fcntl(opened.get(), F_ADD_SEALS, F_SEAL_WRITE), 0) << "nor can one keep the others from writing";
  EXPECT_EQ(::lseek(opened.get(), 0, SEEK_END), 4096);
}

}  // namespace
}  // namespace slipway::core
