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
