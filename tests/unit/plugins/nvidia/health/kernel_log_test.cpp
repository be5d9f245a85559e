// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <gmock/gmock.h>

#include <slipway/testing/temp_dir.hpp>

#include "nvidia/health/kernel_log_watch.hpp"

namespace slipway::nvidia::health {
namespace {

using slipway::testing::TempDir;
using std::chrono::seconds;

class KernelLog : public ::testing::Test {
 protected:
  KernelLog() { write("6,1,1,-;NVRM: Xid (PCI:0000:65:00): 48, before\n"); }
  void write(const std::string& text) {
    folder_.directory("dev");
    std::ofstream(folder_.at("dev/kmsg"), std::ios::app) << text;
  }
  std::string read(KernelLogWatch& watch) {
    std::string all;
    for (const Xid& xid : watch.read()) all += std::to_string(xid.number) + "@" + xid.address + " ";
    return all;
  }

  TempDir folder_;
};

TEST_F(KernelLog, ReportsNewXids) {
  KernelLogWatch watch(RootDir::open(folder_.path().string()).value());
  EXPECT_EQ(read(watch), "");
  EXPECT_EQ(watch.problem(), "");
  write(
      "4,2,2,-;NVRM: Xid (PCI:0000:65:00): 79, pid=1, GPU has fallen off the bus.\n SUBSYSTEM=pci\n6,3,3,-;usb 1-1: "
      "new\n");
  EXPECT_EQ(read(watch), "79@0000:65:00.0 ");
  EXPECT_EQ(read(watch), "");
}

// Before the fix, a simulated machine without a root of its own took this machine's XIDs for its own.
TEST_F(KernelLog, OfAnotherMachineIsNotRead) {
  KernelLogWatch watch(RootDir::open(folder_.path().string()).value(), false);
  EXPECT_EQ(read(watch), "");
  write("4,2,2,-;NVRM: Xid (PCI:0000:65:00): 79, pid=1, GPU has fallen off the bus.\n");
  EXPECT_EQ(read(watch), "");
  EXPECT_EQ(watch.fd(), -1);
  EXPECT_EQ(watch.problem(), "") << "there is nothing wrong";
}

TEST_F(KernelLog, IgnoresRecordsOfUserSpaceAndBrokenOnes) {
  KernelLogWatch watch(RootDir::open(folder_.path().string()).value());
  read(watch);
  write(
      "12,2,2,-;NVRM: Xid (PCI:0000:65:00): 79, a program wrote that\n"
      "6,3,3,-;a line that quotes NVRM: Xid (PCI:0000:65:00): 79, x\n"
      "6,4,4,-;NVRM: Xid (PCI:0000:65:00): 99999999999999, x\n;\n,,,;NVRM: Xid (PCI\n");
  EXPECT_EQ(read(watch), "");
}

TEST_F(KernelLog, ReportsOtherMessagesOfTheDriver) {
  KernelLogWatch watch(RootDir::open(folder_.path().string()).value());
  read(watch);
  EXPECT_FALSE(watch.take_driver_lines());
  for (const char* line : {"6,2,2,-;NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04",
                           "6,3,3,-;nvidia-nvlink: Unregistered Nvlink Core, major device number 235"}) {
    write(std::string(line) + "\n");
    EXPECT_EQ(read(watch), "");
    EXPECT_TRUE(watch.take_driver_lines()) << line;
    EXPECT_FALSE(watch.take_driver_lines()) << "once";
  }
  write(
      "4,4,4,-;NVRM: Xid (PCI:0000:65:00): 79, x\n6,5,5,-;usb 1-1: new\n12,6,6,-;NVRM: a program wrote that\n"
      "6,7,7,-;audit: NVRM: quoted\n");
  EXPECT_EQ(read(watch), "79@0000:65:00.0 ");
  EXPECT_FALSE(watch.take_driver_lines());
  EXPECT_EQ(watch.fd(), -1) << "a plain file is always readable";
}

TEST_F(KernelLog, ExplainsWhyItCannotBeRead) {
  TempDir empty;
  KernelLogWatch watch(RootDir::open(empty.path().string()).value());
  EXPECT_EQ(read(watch), "");
  EXPECT_NE(watch.problem(), "");
}

TEST(XidMerger, ReportsEachXidOnceFromEitherSource) {
  using From = XidMerger::From;
  XidMerger merger;
  XidMerger::Moment now{};
  EXPECT_TRUE(merger.is_new(From::kernel, "GPU-0", 79, now));
  EXPECT_FALSE(merger.is_new(From::nvml, "GPU-0", 79, now + seconds(5)));
  EXPECT_TRUE(merger.is_new(From::nvml, "GPU-0", 79, now + seconds(6)));
  EXPECT_TRUE(merger.is_new(From::nvml, "GPU-0", 79, now + seconds(7)));
  EXPECT_FALSE(merger.is_new(From::kernel, "GPU-0", 79, now + seconds(8)));
  EXPECT_FALSE(merger.is_new(From::kernel, "GPU-0", 79, now + seconds(8)));
  EXPECT_TRUE(merger.is_new(From::kernel, "GPU-0", 79, now + seconds(8)));
  EXPECT_TRUE(merger.is_new(From::nvml, "GPU-1", 79, now + seconds(9))) << "another GPU";
  EXPECT_TRUE(merger.is_new(From::nvml, "GPU-0", 79, now + seconds(100))) << "long ago";
}

}  // namespace
}  // namespace slipway::nvidia::health
