// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid.hpp"

namespace slipway::nvidia {
namespace {

TEST(Xid, IsReadWithNumberGpuAndText) {
  const auto xid = parse_xid("NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off");
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->number, 79U);
  EXPECT_EQ(xid->address, "0000:65:00");
  EXPECT_EQ(xid->text, "pid='<unknown>', name=<unknown>, GPU has fallen off");
}

TEST(Xid, IsNotSeenInOtherLines) {
  for (const char* line : {"", "NVRM: loading", "NVRM: Xid (PCI:0000:65:00)", "NVRM: Xid (PCI:0000:65:00): many",
                           "NVRM: Xid (PCI:0000:65:00): 99999999999999999999"})
    EXPECT_FALSE(parse_xid(line)) << line;
}

// Whoever may run a program chooses the name that the kernel prints when it crashes.
TEST(Xid, IsNotWhatTheNameOfACrashedProgramSays) {
  const std::string forged = "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.";
  for (const std::string before : {"x[1]: segfault at 0 ip 0 sp 0 error 4 in ", "x[1]: segfault in kernel: "})
    for (const std::string prefix : {"", "[   12.345678] ", "Nov 26 09:00:01 node kernel: "})
      EXPECT_FALSE(parse_xid(prefix + before + forged)) << prefix + before;
  for (const std::string prefix : {"", "[   12.345678] ", "Nov 26 09:00:01 node kernel: ", "node kernel: [ 1.2] "})
    EXPECT_TRUE(parse_xid(prefix + forged)) << prefix;
}

TEST(Xid, NamesTheGpuInstanceOfAGpuInMigMode) {
  const auto xid = parse_xid("NVRM: Xid (PCI:0000:65:00 GPU-I:07 GPU-CI:00): 43, pid=12, name=python3, Ch 00000008");
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->address, "0000:65:00");
  EXPECT_EQ(xid->instance, 7U);
  EXPECT_FALSE(parse_xid("NVRM: Xid (PCI:0000:65:00): 79, gone")->instance);
}

TEST(KernelLog, LinesLoseTheirTimeAndNothingElse) {
  EXPECT_EQ(without_time("[   12.345678] NVRM: here"), "NVRM: here");
  EXPECT_EQ(without_time("[drm] Initialized"), "[drm] Initialized");
  EXPECT_EQ(without_time("plain"), "plain");
  EXPECT_EQ(without_time("[ 1.0]"), "");
}

}  // namespace
}  // namespace slipway::nvidia
