// SPDX-License-Identifier: Apache-2.0
#include "nvidia/xid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia {
namespace {

TEST(Xid, IsReadWithNumberGpuAndText) {
  const auto xid = parse_xid("NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off");
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->number, 79U);
  EXPECT_EQ(xid->address, "0000:65:00.0");
  EXPECT_EQ(xid->text, "pid='<unknown>', name=<unknown>, GPU has fallen off");
}

TEST(Xid, IsNotSeenInOtherLines) {
  for (const char* line : {"", "NVRM: loading", "NVRM: Xid (PCI:0000:65:00)", "NVRM: Xid (PCI:0000:65:00): many",
                           "NVRM: Xid (PCI:0000:65:00): 99999999999999999999"})
    EXPECT_FALSE(parse_xid(line)) << line;
}

// Any user who may run a program chooses the name and the file that the kernel prints when it crashes.
TEST(Xid, IsNotReadFromTheNameOfACrashedProgram) {
  const std::string forged = "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.";
  for (const std::string before :
       {"x[1]: segfault at 0 ip 0 sp 0 error 4 in ", "[[5372]: segfault at 0 error 6 in x] ", "[5372]: segfault in "})
    for (const std::string prefix : {"", "[   12.345678] "})
      EXPECT_FALSE(parse_xid(prefix + before + forged)) << prefix + before;
  EXPECT_FALSE(parse_xid("NVRM: Xid (PCI:[5372]: segfault at 0 error 6 in x): 79, gone"));
  for (const std::string prefix : {"", "[   12.345678] ", "[   12.345678][ T1234] "})
    EXPECT_TRUE(parse_xid(prefix + forged)) << prefix;
}

const std::vector<std::string> kRecords{"dd", "if=/dev/kmsg", "iflag=nonblock", "bs=8192", "status=none"};
const std::vector<std::string> kJournal{"journalctl",   "-k", "-b",   "--no-pager",
                                        "--lines=3000", "-o", "json", "--output-fields=MESSAGE,SYSLOG_FACILITY"};

TEST(KernelLog, HasNoLinesOfCrashedPrograms) {
  slipway::testing::FakeHost host;
  host.live("6.1.0-50-amd64");
  host.answers(kRecords,
               {.output = "6,1,1,-;NVRM: RmInitA[77]: segfault at 0 ip 0 error 6 in RmInitAdapter failed![1+1]\n"
                          "6,2,2,-;a b c[d][5372] general protection fault in x\n"
                          "4,3,3,-;nvidia: loading out-of-tree module taints kernel.\n SUBSYSTEM=pci\n"
                          "6,4,4,c;[drm] [nvidia-drm] [GPU ID 0x00000100] Loading driver\n"});
  EXPECT_THAT(read_kernel_log(host).value(),
              ::testing::ElementsAre("nvidia: loading out-of-tree module taints kernel.",
                                     "[drm] [nvidia-drm] [GPU ID 0x00000100] Loading driver"));
}

constexpr const char* kForged = "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.";

// The name of a file or a program may contain a line end: the text after it once became a message of its own in dmesg's
// lines.
TEST(KernelLog, HasOneMessageForEachRecordOfTheKernel) {
  slipway::testing::FakeHost host;
  host.live("6.1.0-50-amd64");
  const std::string forged = kForged;
  host.answers(kRecords, {.output = "4,1,1,-;FAT-fs (sda1): bad file x\\x0a" + forged +
                                    "\n SUBSYSTEM=block\n DEVICE=b8:1;" + forged + "\n" + "12,2,2,-;" + forged + "\n" +
                                    "3,3,3,-,caller=T1;NVRM: Xid (PCI:0000:3a:00): 13, pid=1, "
                                    "name=y\\x0a" +
                                    forged + "\n"});
  const std::vector<std::string> log = read_kernel_log(host).value();
  ASSERT_EQ(log.size(), 2U) << "what a program wrote to /dev/kmsg is not the kernel's";
  const std::vector<XidCount> counted = count_xids(log);
  ASSERT_EQ(counted.size(), 1U);
  EXPECT_EQ(counted.front().last.number, 13U);
  EXPECT_EQ(counted.front().times, 1U);
}

TEST(KernelLog, IsReadFromTheJournalRecordByRecordWhereTheKernelHidesIt) {
  slipway::testing::FakeHost host;
  host.live("6.1.0-50-amd64");
  const auto entry = [](const char* facility, const Json& message) {
    return Json{{"SYSLOG_FACILITY", facility}, {"MESSAGE", message}, {"__CURSOR", "x"}}.dump() + "\n";
  };
  Json bytes = Json::array();
  for (const char c : std::string("NVRM: \xff\nNVRM: here")) bytes.push_back(static_cast<unsigned char>(c));
  host.answers(kRecords, {.exit_status = 1, .errors = "dd: failed to open '/dev/kmsg': Operation not permitted"});
  host.answers(kJournal, {.output = entry("0", std::string("FAT-fs (sda1): bad file x\n") + kForged) +
                                    entry("1", kForged) + entry("0", bytes) + entry("0", Json()) + "no JSON\n" +
                                    entry("0", "NVRM: Xid (PCI:0000:3a:00): 13, pid=1")});
  EXPECT_THAT(read_kernel_log(host).value(),
              ::testing::ElementsAre(std::string("FAT-fs (sda1): bad file x\\x0a") + kForged,
                                     "NVRM: \\xff\\x0aNVRM: here", "NVRM: Xid (PCI:0000:3a:00): 13, pid=1"));
  EXPECT_EQ(count_xids(read_kernel_log(host).value()).size(), 1U);
}

// When the buffer overflows, its oldest bytes are dropped in the middle of a record: the rest of that record could be
// chosen by other users.
TEST(KernelLog, LeavesOutARecordWhoseBeginIsLost) {
  slipway::testing::FakeHost host;
  host.live("6.1.0-50-amd64");
  ProcessOutput output{.output = std::string("6,1,1,-;") + kForged + "\n6,2,2,-;nvidia: here\n"};
  output.truncated = true;
  host.answers(kRecords, output);
  EXPECT_THAT(read_kernel_log(host).value(), ::testing::ElementsAre("nvidia: here"));
}

TEST(Xid, NamesTheGpuInstanceOfAGpuInMigMode) {
  const auto xid = parse_xid("NVRM: Xid (PCI:0000:65:00 GPU-I:07 GPU-CI:00): 43, pid=12, name=python3, Ch 00000008");
  ASSERT_TRUE(xid);
  EXPECT_EQ(xid->address, "0000:65:00.0");
  EXPECT_EQ(xid->instance, 7U);
  EXPECT_FALSE(parse_xid("NVRM: Xid (PCI:0000:65:00): 79, gone")->instance);
}

TEST(Xid, NamesEachGpuAsSysfsDoes) {
  for (const char* place : {"0000:3a:00", "00000000:3A:00.0", "0000:3a:00.0"})
    EXPECT_EQ(parse_xid(std::string("NVRM: Xid (PCI:") + place + "): 79, x")->address, "0000:3a:00.0") << place;
}

TEST(KernelLog, ReportsGpusThatFellOffTheBusWithoutAnXid) {
  EXPECT_EQ(parse_fallen_gpu("[ 1.0] NVRM: GPU 0000:3a:00.0: GPU has fallen off the bus.")->address, "0000:3a:00.0");
  EXPECT_EQ(parse_fallen_gpu("NVRM: GPU 0000:3a:00.0: GPU has fallen off the bus.")->number, 79U);
  for (const char* line : {"NVRM: GPU 0000:3a:00.0: RmInitAdapter failed!", "NVRM: GPU at x: fallen off the bus",
                           "x[1]: segfault NVRM: GPU 0000:3a:00.0: GPU has fallen off the bus."})
    EXPECT_FALSE(parse_fallen_gpu(line)) << line;
  EXPECT_THAT(
      fallen_gpus({"NVRM: The NVIDIA GPU 0000:3a:00.0 (PCI ID: 10de:2330) has fallen off the bus",
                   "NVRM: The NVIDIA GPU 0000:5d:00.0", "NVRM: (PCI ID: 10de:2330) installed in this system has",
                   "NVRM: fallen off the bus and is not responding to commands.", "NVRM: The NVIDIA GPU 0000:9a:00.0",
                   "NVRM: (PCI ID: 10de:2330) is not supported by",
                   "NVRM: The NVIDIA GPU 0000:b1:00.0\\x0aNVRM: (PCI ID: 10de:2330) installed in this system has"
                   "\\x0aNVRM: fallen off the bus and is not responding to commands.",
                   "NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.",
                   "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus."}),
      ::testing::ElementsAre("0000:3a:00.0", "0000:5d:00.0", "0000:b1:00.0"))
      << "an XID 79 tells of the last one";
}

TEST(KernelLog, ReportsErrorsOfNvSwitches) {
  const auto fatal =
      parse_switch_xid("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up");
  ASSERT_TRUE(fatal);
  EXPECT_EQ(fatal->number, 20034U);
  EXPECT_EQ(fatal->address, "0000:05:00.0");
  EXPECT_TRUE(fatal->fatal);
  EXPECT_EQ(fatal->text, "Fatal, Link 30 LTSSM Fault Up");
  EXPECT_FALSE(parse_switch_xid("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 1 egress")->fatal);
  for (const char* line :
       {"nvidia-nvswitch0: SXid (PCI:x): 1, Fatal", "nvidia-nvswitch0: up", "x: SXid (PCI:0000:05:00.0): 1, Fatal",
        "nvidia-nvswitch0 y: SXid (PCI:0000:05:00.0): 1, Fatal"})
    EXPECT_FALSE(parse_switch_xid(line)) << line;
}

TEST(KernelLog, LinesLoseTheirTimeAndNothingElse) {
  EXPECT_EQ(without_time("[   12.345678] NVRM: here"), "NVRM: here");
  EXPECT_EQ(without_time("[drm] Initialized"), "[drm] Initialized");
  EXPECT_EQ(without_time("[   12.345678][  C12] NVRM: here"), "NVRM: here");
  EXPECT_EQ(without_time("[5372]: segfault"), "[5372]: segfault");
  EXPECT_EQ(without_time("plain"), "plain");
  EXPECT_EQ(without_time("[ 1.0]"), "");
}

}  // namespace
}  // namespace slipway::nvidia
