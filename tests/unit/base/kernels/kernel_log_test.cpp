// SPDX-License-Identifier: Apache-2.0
#include "base/kernels/kernel_log.hpp"

#include <string>

#include <gtest/gtest.h>

namespace slipway::base {
namespace {

TEST(KernelMessage, IsTheTextOfARecordOfTheKernel) {
  EXPECT_EQ(kernel_message("6,339,5140900,-;NET: Registered protocol family 10"), "NET: Registered protocol family 10");
  EXPECT_EQ(kernel_message("7,1,1,c,caller=T1;a; b"), "a; b");
  EXPECT_EQ(kernel_message("0,1,1,-;"), "");
}

// Linux gives a program's message to /dev/kmsg the facility 1 (user), or the requested one, but never 0.
TEST(KernelMessage, IsNotARecordOfAProgram) {
  for (const std::string number : {"8", "11", "12", "15", "30", "191", "4294967300", "-1", "+3", " 3", "", "x"})
    EXPECT_FALSE(kernel_message(number + ",1,1,-;NVRM: Xid")) << number;
  for (const char* line : {"", ";", ",,,;x", "3;x", "3", " SUBSYSTEM=net", " 3,1,1,-;x", "nonsense"})
    EXPECT_FALSE(kernel_message(line)) << line;
}

TEST(KernelMessage, IsNotAMessageAboutAProgram) {
  for (const std::string message : {"x[1]: segfault at 0 ip 0 in nvidia", "[5372]: segfault in x", "[[1]: x"})
    EXPECT_FALSE(kernel_message("6,1,1,-;" + message)) << message;
  EXPECT_TRUE(kernel_message("6,1,1,-;nvidia[x]: loaded"));
}

}  // namespace
}  // namespace slipway::base
