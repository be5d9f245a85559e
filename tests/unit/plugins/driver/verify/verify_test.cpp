// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/verify.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include "driver/component/driver.hpp"
#include "driver/package/package.hpp"
#include "tests/unit/plugins/driver/compressed.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::summary;
using testing::TestHost;

/// A host on which the driver is installed, as an apply leaves it.
class DriverVerify : public ::testing::Test {
 protected:
  DriverVerify() {
    const auto& root = host.root();
    const std::string store = "/usr/lib/slipway/store/driver/";
    const std::string lib = store + "abc/userspace/usr/lib/x86_64-linux-gnu/";
    root.link(store + "current", "abc");
    root.file(lib + "libcuda.so.535.261.03", "");
    root.link(lib + "libcuda.so.1", "libcuda.so.535.261.03");
    root.file(store + "abc/userspace/usr/bin/nvidia-smi", "");
    root.file(store + "abc/firmware/nvidia/535.261.03/gsp_tu10x.bin", "");
    static const std::string packed = testing::compressed(testing::content_of(MODULE_50), "xz");
    root.file(module_path, packed);
    root.link("/usr/lib/x86_64-linux-gnu/libcuda.so.1",
              "../slipway/store/driver/current/userspace/usr/lib/x86_64-linux-gnu/libcuda.so.1");
    root.link("/usr/bin/nvidia-smi", "../lib/slipway/store/driver/current/userspace/usr/bin/nvidia-smi");
    root.link("/usr/lib/firmware/nvidia/535.261.03", "../../slipway/store/driver/current/firmware/nvidia/535.261.03");
    root.link("/usr/lib/modules/6.1.0-50-amd64/updates/slipway",
              "../../../slipway/store/driver/current/modules/6.1.0-50-amd64/kernel");
    root.file("/usr/lib/modules/6.1.0-50-amd64/modules.dep", "updates/slipway/nvidia.ko.xz: kernel/drm.ko.xz\n");
    root.file("/usr/lib/slipway/driver.json", receipt_text(receipt));
    host.gpu("0000:1b:00.0", 0x2330, "nvidia");
    host.loaded("535.261.03", {"nvidia", "nvidia-uvm"});
    host.view().file("/proc/driver/nvidia/gpus/0000:1b:00.0/information", "Device Minor: \t 0\n");
    for (const auto* node : {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia0"})
      host.view().file(std::string("/dev/") + node, "");
  }

  Findings findings(const Host& on) const {
    const Spec spec{{{"version", "535.261.03"}, {"load", {"nvidia", "nvidia-uvm"}}, {"blacklist_nouveau", true}}};
    auto result = Driver{}.verify(spec, on);
    EXPECT_TRUE(result) << to_text(result.error());
    return result ? *result : Findings{};
  }
  std::string live() const { return summary(findings(*host.live())); }
  std::string remedies() const {
    std::string all;
    const Findings found = findings(*host.offline());
    for (const Finding& each : found.list()) all += each.name + ": " + each.remedy + "\n";
    return all;
  }

  const std::string module_path = "/usr/lib/slipway/store/driver/abc/modules/6.1.0-50-amd64/kernel/nvidia.ko.xz";
  Receipt receipt{.version = "535.261.03",
                  .flavour = "open",
                  .kernel_release = "6.1.0-50-amd64",
                  .files = {"usr/lib/x86_64-linux-gnu", {"libcuda.so.1"}, {"nvidia-smi"}, {}},
                  .firmware = true,
                  .modules = {"nvidia.ko.xz"},
                  .libdir = "/usr/lib/x86_64-linux-gnu"};
  TestHost host;
};

TEST_F(DriverVerify, PassesOnAHostThatWorks) {
  EXPECT_EQ(
      live(),
      "pass driver.installed: driver 535.261.03 (open) for kernel 6.1.0-50-amd64 is installed\n"
      "pass driver.libraries: 1 libraries of driver 535.261.03\n"
      "pass driver.links: 4 links lead into the store\n"
      "pass driver.modules: 1 modules of driver 535.261.03 for kernel 6.1.0-50-amd64\n"
      "not-exercised driver.fits: not checked: symbol checksums, because no module of kernel 6.1.0-50-amd64 itself can "
      "be read\n"
      "pass driver.depmod: modprobe finds the modules of kernel 6.1.0-50-amd64\n"
      "pass driver.modprobe: no line of modprobe.d keeps a module from being loaded\n"
      "pass driver.loaded: driver 535.261.03 is loaded: nvidia, nvidia-uvm\n"
      "pass driver.nodes: 4 device nodes open\n"
      "pass driver.gpus: 1 GPUs are bound to nvidia\n"
      "pass driver.nouveau: nouveau is not loaded\n");
}

TEST_F(DriverVerify, ChecksFilesOfAnOfflineRootAndCallsHardwareNotApplicable) {
  const auto found = findings(*host.offline());
  EXPECT_TRUE(found.passed());
  EXPECT_THAT(summary(found), HasSubstr("pass driver.modules: "));
  EXPECT_THAT(summary(found),
              HasSubstr("not-applicable driver.loaded: the root is not live: a boot loads the modules\n"));
  EXPECT_THAT(summary(found), HasSubstr("not-applicable driver.gpus: "));
}

TEST_F(DriverVerify, CallsHardwareNotApplicableOnALiveHostWithoutAGpu) {
  std::filesystem::remove_all(host.view().at("/sys/bus/pci/devices/0000:1b:00.0"));
  EXPECT_TRUE(findings(*host.live()).passed());
  EXPECT_THAT(live(), HasSubstr("not-applicable driver.nodes: no NVIDIA GPU can be seen\n"));
}

TEST_F(DriverVerify, FailsWhenNothingIsInstalled) {
  EXPECT_EQ(summary(findings(*TestHost().live())), "fail driver.installed: no driver is installed by slipway here\n");
}

// Before the fix, verify printed "Verified.", and the machine booted into a kernel without a driver.
TEST_F(DriverVerify, FailsWhenTheKernelOfTheNextBootHasNoModules) {
  host.root().file("/usr/lib/modules/6.1.0-56-amd64/modules.builtin", "");
  for (const auto& found : {findings(*host.live()), findings(*host.offline())}) {
    EXPECT_FALSE(found.passed());
    EXPECT_THAT(
        summary(found),
        HasSubstr("fail driver.next-boot: the next boot's kernel 6.1.0-56-amd64 has no driver modules; slipway's are "
                  "for 6.1.0-50-amd64\n"));
  }
  host.root().file("/boot/loader/loader.conf", "default a*\n");
  host.root().file("/boot/loader/entries/a.conf", "linux /vmlinuz-6.1.0-50-amd64\n");
  EXPECT_THAT(live(), Not(HasSubstr("next-boot"))) << "the boot loader takes the kernel that has them";
}

TEST_F(DriverVerify, FailsForAModuleOfAnotherKernel) {
  host.root().file(module_path, testing::content_of(MODULE_56));
  EXPECT_THAT(live(), HasSubstr("fail driver.modules: nvidia.ko.xz is for kernel 6.1.0-56-amd64\n"));
}

TEST_F(DriverVerify, FailsForAModuleThatIsDamagedOrGone) {
  host.root().file(module_path, "damaged");
  EXPECT_THAT(live(), HasSubstr("fail driver.modules: nvidia.ko.xz: the kernel module cannot be read: "));
  std::filesystem::remove(host.root().at(module_path));
  EXPECT_THAT(live(), HasSubstr("fail driver.modules: nvidia.ko.xz cannot be read\n"));
}

TEST_F(DriverVerify, FailsForLibrariesOfAnotherVersionAndForLinksThatLeadElsewhere) {
  const std::string lib = "/usr/lib/slipway/store/driver/abc/userspace/usr/lib/x86_64-linux-gnu/";
  std::filesystem::remove(host.root().at(lib + "libcuda.so.1"));
  EXPECT_THAT(live(), HasSubstr("fail driver.libraries: /usr/lib/slipway/store/driver/current/userspace/usr/lib/"
                                "x86_64-linux-gnu/libcuda.so.1 is missing\n"));
  host.root().file(lib + "libcuda.so.470.256.02", "");
  host.root().link(lib + "libcuda.so.1", "libcuda.so.470.256.02");
  EXPECT_THAT(live(), HasSubstr("fail driver.libraries: libcuda.so.1 is of driver 470.256.02\n"));
  std::filesystem::remove(host.root().at("/usr/bin/nvidia-smi"));
  host.root().file("/usr/bin/nvidia-smi", "");
  EXPECT_THAT(live(), HasSubstr("fail driver.links: /usr/bin/nvidia-smi leads to /usr/bin/nvidia-smi, which is not "
                                "slipway's\n"));
  const auto all = findings(*host.live());
  const auto links = std::ranges::find(all.list(), "driver.links", &Finding::name);
  EXPECT_EQ(links->remedy, "delete the links that are not slipway's, then run `slipway apply`") << "apply refuses them";
}

TEST_F(DriverVerify, FailsWhenDepmodHasNotRun) {
  host.root().file("/usr/lib/modules/6.1.0-50-amd64/modules.dep", "");
  EXPECT_THAT(live(),
              HasSubstr("fail driver.depmod: /lib/modules/6.1.0-50-amd64/modules.dep does not list nvidia.ko.xz"));
}

// Before the fix, the advice was to run depmod, which looks in /lib/modules and found nothing there.
TEST_F(DriverVerify, ReportsModulesThatDepmodMisses) {
  const auto remedy = [this] {
    const auto all = findings(*host.live());
    return std::ranges::find(all.list(), "driver.depmod", &Finding::name)->remedy;
  };
  host.root().file("/usr/lib/modules/6.1.0-50-amd64/modules.dep", "");
  EXPECT_EQ(remedy(), "run `depmod 6.1.0-50-amd64`");
  std::filesystem::remove(host.root().at("/lib"));
  EXPECT_THAT(remedy(), HasSubstr("make /lib a link to usr/lib"));
  EXPECT_THAT(remedy(), HasSubstr(", then run `depmod 6.1.0-50-amd64`"));
}

TEST_F(DriverVerify, FailsWhenAnotherVersionOrFlavourIsLoaded) {
  host.loaded("470.256.02", {"nvidia", "nvidia-uvm"});
  EXPECT_THAT(live(), HasSubstr("fail driver.loaded: driver 470.256.02 is loaded, 535.261.03 is installed\n"));
  host.loaded("535.261.03", {"nvidia", "nvidia-uvm"}, false);
  EXPECT_THAT(live(),
              HasSubstr("fail driver.loaded: the proprietary modules are loaded, the open ones are installed\n"));
  host.loaded("535.261.03", {"nvidia"});
  std::filesystem::remove(host.view().at("/sys/module/nvidia_uvm"));
  EXPECT_THAT(live(), HasSubstr("fail driver.loaded: nvidia-uvm not loaded\n"));
}

// Earlier only doctor had the finding, and the two had different remedies.
TEST_F(DriverVerify, HasTheFindingOfDoctorForALibraryThatIsNotOfTheLoadedVersion) {
  const auto versions = [](const Findings& all) {
    const auto found = std::ranges::find(all.list(), "driver.versions", &Finding::name);
    return found == all.list().end() ? std::string() : found->text + "; do: " + found->remedy;
  };
  EXPECT_EQ(versions(findings(*host.live())), "");
  host.loaded("470.256.02", {"nvidia", "nvidia-uvm"});
  const Findings all = findings(*host.live());
  EXPECT_THAT(versions(all), HasSubstr("the loaded module is of driver 470.256.02, and "));
  EXPECT_THAT(versions(all),
              HasSubstr("do: run `slipway apply`, which replaces the loaded driver when no process uses it"));
  const auto doctor = Driver{}.diagnose(Spec{Json::object()}, *host.live());
  ASSERT_TRUE(doctor.ok());
  EXPECT_EQ(versions(*doctor), versions(all));
  EXPECT_THAT(std::ranges::find(all.list(), "driver.loaded", &Finding::name)->remedy,
              HasSubstr("run `slipway apply`, which replaces the loaded driver when no process uses it"));
}

TEST_F(DriverVerify, FailsWhenANodeIsMissing) {
  std::filesystem::remove(host.view().at("/dev/nvidia0"));
  EXPECT_THAT(live(), HasSubstr("fail driver.nodes: /dev/nvidia0: "));
}

// Before the fix, plan, apply, verify and doctor reported nothing, and no boot loaded the driver.
TEST_F(DriverVerify, FailsWhereALineOfModprobeKeepsAModuleFromBeingLoaded) {
  host.root().file("/etc/modprobe.d/x.conf", "# ours\ninstall nvidia_uvm /bin/false\n");
  EXPECT_THAT(live(), HasSubstr("fail driver.modprobe: modules cannot be loaded: /etc/modprobe.d/x.conf:2: 'install "
                                "nvidia-uvm /bin/false'\n"));
  EXPECT_THAT(summary(findings(*host.offline())), HasSubstr("fail driver.modprobe"));
}

TEST_F(DriverVerify, ComparesTheParametersOfTheLoadedModulesWithTheSpec) {
  const Spec spec{{{"version", "535.261.03"},
                   {"load", {"nvidia", "nvidia-uvm"}},
                   {"blacklist_nouveau", true},
                   {"parameters",
                    {{"nvidia", {{"NVreg_RestrictProfilingToAdminUsers", 0}, {"NVreg_RegistryDwords", "a=b"}}},
                     {"nvidia-uvm", {{"uvm_disable_hmm", true}}}}}}};
  const auto output = [&] { return summary(*Driver{}.verify(spec, *host.live())); };
  host.view().file("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm", "Y\n");
  host.view().file("/proc/driver/nvidia/params",
                   "ModifyDeviceFiles: 1\nRmProfilingAdminOnly: 0\nRegistryDwords: \"a=b\"\n");
  EXPECT_THAT(output(), HasSubstr("pass driver.parameters: 3 parameters of loaded modules are as in the spec\n"));
  host.view().file("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  EXPECT_THAT(output(),
              HasSubstr("warning driver.parameters: nvidia is loaded with NVreg_RestrictProfilingToAdminUsers=1, "
                        "the spec has 0\n"));
  EXPECT_TRUE(Driver{}.verify(spec, *host.live())->passed()) << "an apply that changes a parameter must not fail";
}

TEST_F(DriverVerify, FailsWhenAGpuHasNoDriverOrNouveau) {
  host.gpu("0000:43:00.0", 0x2330);
  host.gpu("0000:44:00.0", 0x2330, "nouveau");
  host.view().directory("/sys/module/nouveau");
  EXPECT_THAT(live(), HasSubstr("fail driver.gpus: H100-SXM at 0000:43:00.0 has no driver; H100-SXM at 0000:44:00.0 is "
                                "bound to nouveau\n"));
  EXPECT_THAT(live(), HasSubstr("fail driver.nouveau: the kernel's own driver (nouveau) is loaded\n"));
  host.view().directory("/sys/module/nova_core");
  EXPECT_THAT(live(), HasSubstr("fail driver.nouveau: the kernel's own driver (nouveau, nova_core) is loaded\n"));
}

TEST_F(DriverVerify, FailsForAnotherVersionThanTheSpecsAndForAnotherKernel) {
  receipt.kernel_release = "6.1.0-47-amd64";
  host.root().file("/usr/lib/slipway/driver.json", receipt_text(receipt));
  EXPECT_THAT(live(),
              HasSubstr("fail driver.installed: driver 535.261.03 (open) for kernel 6.1.0-47-amd64 is installed, "
                        "and the kernel is 6.1.0-50-amd64\n"));
  receipt.version = "470.256.02";
  host.root().file("/usr/lib/slipway/driver.json", receipt_text(receipt));
  EXPECT_THAT(live(), HasSubstr("is installed, the spec asks for 535.261.03\n"));
}

/// The same with a second kernel, 6.1.0-56-amd64, which is the target.
class DriverVerifyKernels : public DriverVerify {
 protected:
  DriverVerifyKernels() {
    const auto& root = host.root();
    root.file("/usr/lib/modules/6.1.0-56-amd64/modules.builtin", "");
    root.file("/usr/lib/modules/6.1.0-56-amd64/modules.dep", "updates/slipway/nvidia.ko:\n");
    root.link("/usr/lib/modules/6.1.0-56-amd64/updates/slipway",
              "../../../slipway/store/driver/current/modules/6.1.0-56-amd64/kernel");
    root.file(second_path, testing::content_of(MODULE_56));
    receipt.further = {{receipt.kernel_release, false, {}, receipt.modules}};
    receipt.kernel_release = "6.1.0-56-amd64";
    receipt.modules = {"nvidia.ko"};
    write();
  }
  void write() const { host.root().file("/usr/lib/slipway/driver.json", receipt_text(receipt)); }
  std::string with(const Json& kernels, const std::string& policy = "error") const {
    const Spec spec{{{"version", "535.261.03"},
                     {"load", {"nvidia", "nvidia-uvm"}},
                     {"blacklist_nouveau", true},
                     {"kernels", kernels},
                     {"kernel_without_package", policy}}};
    auto result = Driver{}.verify(spec, *host.live());
    EXPECT_TRUE(result) << to_text(result.error());
    return result ? summary(*result) : std::string{};
  }
  const std::string second_path = "/usr/lib/slipway/store/driver/abc/modules/6.1.0-56-amd64/kernel/nvidia.ko";
};

TEST_F(DriverVerifyKernels, PassesWhereEachHasItsModules) {
  for (const auto& text : {live(), with("all")}) {
    EXPECT_THAT(text, HasSubstr("pass driver.installed: driver 535.261.03 (open) for kernels 6.1.0-56-amd64 and "
                                "6.1.0-50-amd64 is installed\n"));
    EXPECT_THAT(text, HasSubstr("pass driver.links: 5 links"));
    EXPECT_THAT(text, HasSubstr("pass driver.modules: 2 modules of driver 535.261.03 for kernels 6.1.0-56-amd64 and "));
    EXPECT_THAT(text, HasSubstr("pass driver.depmod: modprobe finds the modules of kernels 6.1.0-56-amd64 and "));
  }
}

TEST_F(DriverVerifyKernels, NamesTheKernelWhoseModulesOrLinkAreWrong) {
  host.root().file(second_path, testing::content_of(MODULE_50));
  host.root().file("/usr/lib/modules/6.1.0-56-amd64/modules.dep", "");
  std::filesystem::remove(host.root().at("/usr/lib/modules/6.1.0-50-amd64/updates/slipway"));
  const auto text = live();
  EXPECT_THAT(text, HasSubstr("fail driver.modules: kernel 6.1.0-56-amd64: nvidia.ko is for kernel 6.1.0-50-amd64\n"));
  EXPECT_THAT(text, HasSubstr("fail driver.depmod: /lib/modules/6.1.0-56-amd64/modules.dep does not list nvidia.ko\n"));
  EXPECT_THAT(text, HasSubstr("fail driver.links: /usr/lib/modules/6.1.0-50-amd64/updates/slipway leads nowhere\n"));
}

TEST_F(DriverVerifyKernels, FailsForAKernelThatLacksItsModules) {
  host.root().file("/usr/lib/modules/6.1.0-53-amd64/modules.builtin", "");
  EXPECT_THAT(with("all"), HasSubstr("is installed, and there are no modules for 6.1.0-53-amd64\n"));
  EXPECT_THAT(with("newest"), HasSubstr("pass driver.installed: "));
  receipt.without = {"6.1.0-53-amd64"};
  write();
  EXPECT_THAT(with("all"), HasSubstr("fail driver.installed: "));
  EXPECT_THAT(with("all", "note"), HasSubstr("is installed; 6.1.0-53-amd64 had no package\n"));
}

TEST_F(DriverVerifyKernels, FailsWhileTheRunningKernelHasNoModules) {
  receipt.further.clear();
  write();
  EXPECT_THAT(with("newest"), HasSubstr("fail driver.installed: driver 535.261.03 (open) for kernel 6.1.0-56-amd64 is "
                                        "installed, and kernel 6.1.0-50-amd64 runs\n"));
}

TEST_F(DriverVerify, HasARemedyForEachFailure) {
  host.root().file(module_path, "damaged");
  host.loaded("470.256.02", {"nvidia"});
  const auto found = findings(*host.live());
  for (const auto& finding : found.list())
    EXPECT_EQ(finding.status == Finding::Status::fail, !finding.remedy.empty()) << finding.name;
}

// Before the fix, the advice was "run `depmod`" for a kernel that the package manager had removed.
TEST_F(DriverVerify, AdvisesNoDepmodForAKernelThatIsGone) {
  host.root().file("/usr/lib/modules/6.1.0-50-amd64/modules.dep", "");
  EXPECT_THAT(remedies(), HasSubstr("run `depmod 6.1.0-50-amd64`"));
  std::filesystem::remove_all(host.root().at("/usr/lib/modules/6.1.0-50-amd64"));
  EXPECT_THAT(remedies(), HasSubstr("install kernel 6.1.0-50-amd64 again, which is gone"));
  EXPECT_THAT(remedies(), Not(HasSubstr("`depmod")));
}

// Before the fix, only doctor failed for a missing fabric manager: verify passed the boot of a machine on which no CUDA
// program could start.
TEST_F(DriverVerify, FailsWhereNvSwitchesHaveNoFabricManager) {
  host.pci("0000:05:00.0", 0x10de, 0x22a3, 0x068000);
  EXPECT_THAT(live(), HasSubstr("fail driver.fabric-manager: the NVSwitches of this machine need NVIDIA's Fabric "
                                "Manager 535.261.03, and none is installed"));
  host.root().file("/usr/bin/nv-fabricmanager", "");
  EXPECT_THAT(live(), Not(HasSubstr("driver.fabric-manager")));
}

}  // namespace
}  // namespace slipway::driver
