// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/diagnose.hpp"

#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/text.hpp>

#include "driver/component/driver.hpp"
#include "nvidia/xid.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::FakeHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kKernel;
using ::testing::Not;
using testing::summary;

const std::vector<std::string> kRecords{"dd", "if=/dev/kmsg", "iflag=nonblock", "bs=8192", "status=none"};

Receipt installed() {
  return {.version = "535.261.03",
          .flavour = "open",
          .kernel_release = kKernel,
          .files = {"usr/lib/x86_64-linux-gnu", {"libcuda.so.1"}, {}, {}}};
}

/// A machine on which slipway's driver works.
class DriverDiagnose : public ::testing::Test {
 protected:
  DriverDiagnose() {
    host.os_release({{"ID", "debian"}, {"VERSION_ID", "12"}}).kernel(kKernel).live(kKernel);
    host.pci({.address = "0000:1b:00.0",
              .vendor = 0x10de,
              .device = 0x2330,
              .device_class = 0x030200,
              .driver = "nvidia",
              .numa_node = 0});
    host.module_loaded_now("nvidia").module_loaded_now("nvidia_uvm").file("/sys/module/nvidia/version", "535.261.03\n");
    host.device_major("nvidia", 195).device_major("nvidia-uvm", 510);
    host.device("/dev/nvidia-uvm", 510, 0).device("/dev/nvidia-uvm-tools", 510, 1);
    host.file("/usr/lib/slipway/driver.json", receipt_text(installed()));
    log("");
  }

  /// @param lines  as dmesg prints them
  void log(const std::string& lines) {
    std::string records = "5,0,0,-;Linux version 6.1.0-50-amd64\n";
    for (const std::string_view line : lines_of<std::string_view>(lines))
      records += "4,1,1,-;" + std::string(nvidia::without_time(line)) + "\n";
    host.answers(kRecords, {.output = records});
  }
  Findings findings() const { return Driver{}.diagnose(Spec{}, host).value(); }
  /// Returns the one finding, as "status name: text / remedy", or all of them when there are several.
  std::string found() const {
    const Findings all = findings();
    return all.list().size() == 1 ? summary(all) + all.list().front().remedy : summary(all);
  }

  FakeHost host;
};

TEST_F(DriverDiagnose, FindsNothingOnAMachineThatWorks) { EXPECT_EQ(found(), ""); }

TEST_F(DriverDiagnose, FindsAKernelOfTheNextBootThatHasNoModules) {
  host.kernel("6.1.0-56-amd64").link("/vmlinuz", "boot/vmlinuz-6.1.0-56-amd64");
  EXPECT_THAT(found(),
              AllOf(HasSubstr("fail driver.next-boot: the next boot's kernel 6.1.0-56-amd64 has no driver"),
                    HasSubstr("slipway's are for 6.1.0-50-amd64"), HasSubstr("slipway plan --kernel 6.1.0-56-amd64")));
  host.file("/lib/modules/6.1.0-56-amd64/modules.dep", "updates/dkms/nvidia.ko:\n");
  EXPECT_THAT(found(), Not(HasSubstr("next boot"))) << "somebody else's modules serve as well";
}

TEST_F(DriverDiagnose, TakesTheNewestKernelForTheNextBootWhereNoLinkNamesIt) {
  host.kernel("6.1.0-9-amd64");
  EXPECT_EQ(found(), "") << "an older kernel is not booted";
  host.kernel("6.1.0-56-amd64");
  EXPECT_THAT(found(), HasSubstr("next boot's kernel 6.1.0-56-amd64"));
}

TEST_F(DriverDiagnose, CountsEachKernelThatHasModulesAndChecksTheirFiles) {
  host.kernel("6.1.0-56-amd64");
  Receipt receipt = installed();
  receipt.further = {{"6.1.0-56-amd64", false, {}, {}}};
  host.file("/usr/lib/slipway/driver.json", receipt_text(receipt));
  host.directory("/lib/modules/6.1.0-56-amd64/updates/slipway");
  EXPECT_THAT(found(), AllOf(HasSubstr("fail driver.kernel: kernel 6.1.0-50-amd64 has lost its driver modules"),
                             HasSubstr("run `slipway apply`")));
  host.directory(std::string("/lib/modules/") + kKernel + "/updates/slipway");
  EXPECT_EQ(found(), "") << "the kernel of the next boot has modules";
}

TEST_F(DriverDiagnose, FollowsTheBootLoaderToTheNextKernel) {
  host.kernel("6.1.0-56-amd64");
  host.file("/boot/loader/loader.conf", "default a*\n")
      .file("/boot/loader/entries/a.conf", "linux /vmlinuz-6.1.0-50-amd64\n");
  EXPECT_EQ(found(), "") << "the newest is not booted";
}

TEST_F(DriverDiagnose, FindsARunningKernelWithoutModules) {
  host.live("6.1.0-56-amd64").kernel("6.1.0-56-amd64");
  EXPECT_THAT(found(), HasSubstr("fail driver.kernel: the running kernel 6.1.0-56-amd64 has no driver modules"));
}

TEST_F(DriverDiagnose, FindsADriverOfTheDistributionBesideOurs) {
  host.file("/var/lib/dpkg/status",
            "Package: libcuda1\nStatus: install ok installed\nVersion: 535.309.01-1\nArchitecture: amd64\n\n");
  EXPECT_THAT(found(),
              AllOf(HasSubstr("fail driver.two-drivers: there is another driver beside slipway's driver 535.261.03"),
                    HasSubstr("libcuda1"), HasSubstr("keep one of them")));
  host.without("/usr/lib/slipway/driver.json");
  EXPECT_THAT(found(), Not(HasSubstr("two-drivers"))) << "one driver is enough";
}

TEST_F(DriverDiagnose, FindsLeftoverModulesOfDkms) {
  host.file("/lib/modules/6.1.0-50-amd64/updates/dkms/nvidia-current.ko", "");
  EXPECT_THAT(found(),
              AllOf(HasSubstr("fail driver.dkms: modules that DKMS built and forgot"),
                    HasSubstr("/lib/modules/6.1.0-50-amd64/updates/dkms/nvidia-current.ko"), HasSubstr("depmod")));
}

TEST_F(DriverDiagnose, FindsAModuleThatWasBuiltForAnotherKernel) {
  host.file("/lib/modules/6.1.0-50-amd64/updates/dkms/nvidia-current.ko", testing::content_of(MODULE_56));
  host.file("/lib/modules/6.1.0-50-amd64/modules.dep", "updates/dkms/nvidia-current.ko:\n");
  EXPECT_THAT(found(), HasSubstr("fail driver.other-kernel: built for another kernel: "
                                 "/lib/modules/6.1.0-50-amd64/updates/dkms/nvidia-current.ko is for 6.1.0-56-amd64"));
  host.file("/lib/modules/6.1.0-50-amd64/updates/dkms/nvidia-current.ko", testing::content_of(MODULE_50));
  EXPECT_THAT(found(), Not(HasSubstr("other-kernel")));
}

TEST_F(DriverDiagnose, FindsALibraryThatIsNotOfTheLoadedVersion) {
  host.file("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.535.309.01", "");
  host.link("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "libnvidia-ml.so.535.309.01");
  EXPECT_THAT(found(), AllOf(HasSubstr("fail driver.versions: the loaded module is of driver 535.261.03"),
                             HasSubstr("libnvidia-ml.so.535.309.01 is 535.309.01"),
                             HasSubstr("Driver/library version mismatch")));
}

TEST_F(DriverDiagnose, FindsUvmNodesThatAreMissingOrOfAnotherBoot) {
  host.without("/dev/nvidia-uvm-tools");
  EXPECT_THAT(found(), HasSubstr("fail driver.uvm-nodes: /dev/nvidia-uvm-tools is missing"));
  host.device("/dev/nvidia-uvm-tools", 509, 1);
  EXPECT_THAT(found(), HasSubstr("/dev/nvidia-uvm-tools is 509:1 and should be 510:1"));
}

TEST_F(DriverDiagnose, FindsLinesOfModprobeThatKeepModulesFromBeingLoaded) {
  host.file("/usr/lib/modprobe.d/x.conf", "alias nvidia off\nblacklist nvidia\ninstall nvidia-drm /bin/false\n");
  EXPECT_THAT(found(), HasSubstr("fail driver.modprobe: modules cannot be loaded: /usr/lib/modprobe.d/x.conf:1: 'alias "
                                 "nvidia off'\ndelete these lines"));
}

TEST_F(DriverDiagnose, FindsAKernelParameterThatForbidsAModule) {
  host.file("/proc/cmdline", "ro module_blacklist=nouveau,nvidia quiet\n");
  EXPECT_THAT(found(), HasSubstr("fail driver.modprobe: modules cannot be loaded: /proc/cmdline: "
                                 "'module_blacklist=nvidia'\n"));
}

// Before the fix, CUDA failed with error 802 on machines that passed plan, verify and doctor.
TEST_F(DriverDiagnose, FindsNvSwitchesWithoutAFabricManagerOfTheDriversVersion) {
  host.pci({.address = "0000:05:00.0", .vendor = 0x10de, .device = 0x22a3, .device_class = 0x068000, .numa_node = 0});
  const std::string need =
      "fail driver.fabric-manager: the NVSwitches of this machine need NVIDIA's Fabric Manager "
      "535.261.03, ";
  EXPECT_THAT(found(), AllOf(HasSubstr(need + "and none is installed\n"), HasSubstr("error 802")));
  const auto package = [&](const std::string& name, const std::string& version) {
    host.file("/var/lib/dpkg/status",
              "Package: " + name + "\nStatus: install ok installed\nVersion: " + version + "\n\n");
  };
  package("nvidia-fabricmanager-550", "550.127.05-0ubuntu1");
  EXPECT_THAT(found(), HasSubstr(need + "and 550.127.05 is installed (nvidia-fabricmanager-550)\n"));
  package("nvidia-fabricmanager-dev-535", "535.261.03-1");
  EXPECT_THAT(found(), HasSubstr(need + "and none is installed\n")) << "these are headers";
  package("nvidia-fabricmanager-535", "535.261.03-1");
  EXPECT_EQ(found(), "");
  host.file("/var/lib/dpkg/status", "").file("/usr/bin/nv-fabricmanager", "");
  EXPECT_EQ(found(), "") << "a package of another kind: its version cannot be told";
}

TEST_F(DriverDiagnose, FindsNovaByItsOwnName) {
  host.module_loaded_now("nova_core");
  host.pci({.address = "0000:2a:00.0",
            .vendor = 0x10de,
            .device = 0x2330,
            .device_class = 0x030200,
            .driver = "NovaCore",
            .numa_node = 0});
  EXPECT_THAT(found(), HasSubstr("fail driver.nouveau: the kernel's own driver (nova_core) holds 0000:2a:00.0, so "
                                 "NVIDIA's cannot start"));
}

TEST_F(DriverDiagnose, FindsNouveauAndTheGpusThatItHolds) {
  host.module_loaded_now("nouveau");
  host.pci({.address = "0000:2a:00.0",
            .vendor = 0x10de,
            .device = 0x2330,
            .device_class = 0x030200,
            .driver = "nouveau",
            .numa_node = 0});
  EXPECT_THAT(found(), AllOf(HasSubstr("fail driver.nouveau:"), HasSubstr("holds 0000:2a:00.0"), HasSubstr("reboot")));
}

TEST_F(DriverDiagnose, FindsThatTheKernelRefusedASignature) {
  for (const char* line :
       {"Loading of unsigned module is rejected", "Loading of module with unavailable key is rejected",
        "Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7",
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service"}) {
    log(std::string("[   12.000001] pci something\n[   12.345678] ") + line + "\n");
    EXPECT_THAT(found(), AllOf(HasSubstr("fail driver.signature:"), HasSubstr(line), HasSubstr("mokutil --import")));
  }
}

TEST_F(DriverDiagnose, OnlyMentionsAModuleThatWasLoadedUnsigned) {
  log("[    5.1] nvidia: module verification failed: signature and/or required key missing - tainting kernel\n");
  EXPECT_THAT(found(), HasSubstr("warning driver.signature:"));
  EXPECT_TRUE(findings().passed());
}

TEST_F(DriverDiagnose, FindsThatTheKernelRefusedAModuleOfAnotherKernel) {
  log("[    5.1] nvidia: version magic '6.1.0-49-amd64 SMP' should be '6.1.0-50-amd64 SMP'\n");
  EXPECT_THAT(found(), AllOf(HasSubstr("fail driver.other-kernel:"), HasSubstr("6.1.0-49-amd64")));
}

// The kernel quotes names of programs, files and mount options, which any user can choose.
TEST_F(DriverDiagnose, IgnoresLinesOfOtherWriters) {
  log("[ 1.0] NVRM: Xid (PCI:[5372]: segfault at 0 error 6 in NVRM: RmInitAdapter failed! Loading of unsigned module "
      "is "
      "rejected[1+1]\n"
      "[ 2.0] [[5373]: segfault at 0 error 6 in x] NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n"
      "[ 3.0] overlayfs: unrecognized mount option \"Loading of unsigned module is rejected\" or missing value\n"
      "[ 4.0] process '/tmp/NVRM: RmInitAdapter failed' started with executable stack\n");
  const std::string all = found();
  for (const char* name : {"driver.xid", "driver.start", "driver.signature"})
    EXPECT_THAT(all, ::testing::Not(HasSubstr(name)));
}

TEST_F(DriverDiagnose, CountsXidsByNumberAndGpuAndReportsHardwareFromJobs) {
  log("[ 1.0] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, GPU has fallen off the bus.\n"
      "[ 2.0] NVRM: Xid (PCI:0000:2a:00): 31, pid=12, name=python3, Ch 00000008, MMU Fault\n"
      "[ 3.0] NVRM: Xid (PCI:0000:2a:00): 31, pid=13, name=python3, Ch 00000010, MMU Fault\n"
      "[ 4.0] NVRM: Xid (PCI:0000:2a:00): 999, something new\n");
  const Findings all = findings();
  EXPECT_THAT(summary(all), HasSubstr("fail driver.xid: Xid 79 on 0000:1b:00.0, once since the boot"));
  EXPECT_THAT(summary(all), HasSubstr("warning driver.xid: Xid 31 on 0000:2a:00.0, 2 times since the boot"));
  EXPECT_THAT(summary(all), HasSubstr("fail driver.xid: Xid 999 on 0000:2a:00.0"));
  for (const Finding& finding : all.list()) EXPECT_FALSE(finding.remedy.empty()) << finding.text;
}

TEST_F(DriverDiagnose, NamesInstanceAndNvlinkUnitOfAnXidAndSkipsCancelledOnes) {
  log("[ 1.0] NVRM: Xid (PCI:0000:1b:00 GPU-I:07 GPU-CI:00): 94, pid=4711, Contained\n"
      "[ 2.0] NVRM: Xid (PCI:0000:2a:00): 163, PSHC disengaged\n"
      "[ 3.0] NVRM: Xid (PCI:0000:2a:00): 162, PSHC reengaged\n"
      "[ 4.0] NVRM: Xid (PCI:0000:3a:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x000001c6 0x00000000 0x0)\n");
  const std::string all = found();
  EXPECT_THAT(all, HasSubstr("fail driver.xid: Xid 94 on 0000:1b:00.0 GPU-I:7, once"));
  EXPECT_THAT(all, HasSubstr("unit NETIR_LINK_DOWN of link 8, which asks for a reset"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("Xid 163")));
}

// Lines of bug reports about driver branch 570. Before the fix, "of link 0" was printed where no link is meant, a reset
// was requested where the line says that it is not fatal, and "see what the driver asks for" although the line says it.
TEST_F(DriverDiagnose, ReadsTheTextOfAnXid) {
  log("NVRM: Xid (PCI:0000:18:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 0x00000000)\n"
      "NVRM: Xid (PCI:0000:2a:00): 154, GPU recovery action changed from 0x4 (Drain and Reset) to 0x1 (GPU Reset "
      "Required)\n"
      "NVRM: Xid (PCI:0000:5d:00): 149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 03 (0x00086226 0x00000001 0x00000000)\n"
      "NVRM: GPU 0000:3a:00.0: GPU has fallen off the bus.\n"
      "NVRM: Xid (PCI:0000:9a:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\n"
      "NVRM: Xid (PCI:0000:9a:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)\n"
      "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
      "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 12028, Non-fatal, Link 1 egress error\n");
  const std::string all = found();
  EXPECT_THAT(all, HasSubstr("fail driver.xid: Xid 149 on 0000:18:00.0"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("of link 0")));
  EXPECT_THAT(all,
              HasSubstr("fail driver.xid: Xid 154 on 0000:2a:00.0, once since the boot: the driver asks for a reset"));
  EXPECT_THAT(all, HasSubstr("warning driver.xid: Xid 149 on 0000:5d:00.0"));
  EXPECT_THAT(all, HasSubstr("unit NETIR_BER_EVENT of link 3"));
  EXPECT_THAT(all,
              HasSubstr("fail driver.xid: GPU 0000:3a:00.0: the kernel's log says that it has fallen off the bus"));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("0000:9a:00"))) << "to None: it is over";
  EXPECT_THAT(all, HasSubstr("fail driver.sxid: SXid 20034 of the NVSwitch at 0000:05:00.0, once since the boot"));
  EXPECT_THAT(all, HasSubstr("warning driver.sxid: SXid 12028 of the NVSwitch at 0000:06:00.0"));
  const Findings found = findings();
  for (const Finding& finding : found.list()) {
    const bool is_154 = finding.text.find("Xid 154") != std::string::npos;
    EXPECT_TRUE(!is_154 || finding.remedy.find("nvidia-smi -r -i 0000:2a:00.0") != std::string::npos) << finding.remedy;
  }
}

TEST_F(DriverDiagnose, UsesASitesHealthRulesAndNamesTheirErrors) {
  log("[ 1.0] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, GPU has fallen off the bus.\n");
  host.file("/etc/slipway/health-rules.yaml",
            "version: v1\nxids: {79: {severity: application, remedy: call the desk}}\n");
  EXPECT_THAT(found(), HasSubstr("warning driver.xid: Xid 79"));
  host.file("/etc/slipway/health-rules.yaml", "version: v1\nxids: {79: {severty: application}}\n");
  const std::string all = found();
  EXPECT_THAT(all, HasSubstr("fail driver.health-rules: /etc/slipway/health-rules.yaml:2:13: unknown key 'severty'"));
  EXPECT_THAT(all, HasSubstr("fail driver.xid: Xid 79"));
}

TEST_F(DriverDiagnose, NamesAMistakeInTheTableOfGpus) {
  EXPECT_THAT(found(), Not(HasSubstr("driver.gpu-table")));
  host.file("/etc/slipway/gpus.yaml", "version: v1\nchips:\n  2901: {architecture: blackwel}\n");
  EXPECT_THAT(found(),
              HasSubstr("fail driver.gpu-table: /etc/slipway/gpus.yaml:3:24: unknown architecture 'blackwel'"));
}

TEST_F(DriverDiagnose, FindsThatTheDriverCouldNotStartAGpu) {
  log("[ 1.0] NVRM: GPU 0000:1b:00.0: RmInitAdapter failed! (0x62:0x0:1900)\n");
  EXPECT_THAT(found(), HasSubstr("fail driver.start: the driver could not start a GPU"));
}

TEST_F(DriverDiagnose, ReadsTheJournalWhereTheKernelHidesItsLog) {
  host.answers(kRecords, {.exit_status = 1, .errors = "dd: failed to open '/dev/kmsg': Operation not permitted"});
  EXPECT_THAT(found(), HasSubstr("not-exercised driver.log"));
  host.answers(
      {"journalctl", "-k", "-b", "--no-pager", "--lines=3000", "-o", "json", "--output-fields=MESSAGE,SYSLOG_FACILITY"},
      {.output = "{\"SYSLOG_FACILITY\": \"0\", \"MESSAGE\": \"NVRM: Xid (PCI:0000:1b:00): 48, DBE\"}\n"});
  EXPECT_THAT(found(), HasSubstr("Xid 48"));
}

TEST(DriverDiagnoseElsewhere, FindsNothingOnAMachineWithoutGpuOrDriver) {
  FakeHost host;
  host.kernel(kKernel).live(kKernel);
  EXPECT_EQ(summary(Driver{}.diagnose(Spec{}, host).value()), "");
}

TEST(DriverDiagnoseElsewhere, LooksOnlyAtFilesInAnOfflineRoot) {
  FakeHost host;
  host.kernel(kKernel).kernel("6.1.0-56-amd64").asked_kernel(kKernel);
  host.file("/usr/lib/slipway/driver.json", receipt_text(installed()));
  EXPECT_THAT(summary(Driver{}.diagnose(Spec{}, host).value()), HasSubstr("next boot's kernel 6.1.0-56-amd64"));
  EXPECT_TRUE(host.ran().empty());
}

}  // namespace
}  // namespace slipway::driver
