// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "driver/component/driver.hpp"
#include "driver/package/annotations.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::summary;
using testing::TestHost;
using testing::TestPackage;
using testing::TestTarget;

Json section(const Json& more = Json::object()) {
  Json json{{"version", "535.261.03"},
            {"source", {{"repository", testing::kRepository}}},
            {"modules", "auto"},
            {"precompiled", "prefer"},
            {"load", {"nvidia", "nvidia-uvm", "nvidia-modeset"}},
            {"blacklist_nouveau", true},
            {"libdir", "auto"},
            {"existing", "refuse"}};
  json.update(more);
  return json;
}

/// Detects and plans as the core does: facts and plan go through JSON.
struct Planning {
  std::vector<TestPackage> packages{TestPackage{}};
  Json more = Json::object();
  TestTarget target;
  bool complete = true;

  Result<Plan> of(const Host& host) const {
    const Spec spec{section(more)};
    const Driver driver;
    SLIPWAY_TRY(facts, driver.detect(spec, host));
    SLIPWAY_TRY(back, facts_from_json(slipway::to_json(facts)));
    return driver.plan(spec, back, testing::inputs(packages, target, complete));
  }
  Plan good(const Host& host) const {
    auto plan = of(host);
    EXPECT_TRUE(plan) << to_text(plan.error());
    return plan ? *plan : Plan{};
  }
  Error bad(const Host& host) const {
    auto plan = of(host);
    EXPECT_FALSE(plan) << summary(*plan);
    return plan ? Error{} : plan.error();
  }
};

constexpr const char* kFilesPart =
    "unpack driver userspace=sha256:userspace-535.261.03 firmware=sha256:firmware-535.261.03 "
    "modules/6.1.0-50-amd64=sha256:modules-535.261.03-open-6.1.0-50-amd64 !ldconfig !depmod:6.1.0-50-amd64\n"
    "file /etc/ld.so.conf.d/slipway-driver.conf !ldconfig\n"
    "symlink " TEST_LIBDIR
    "/libcuda.so.1 -> "
    "../slipway/store/driver/current/userspace/usr/lib/x86_64-linux-gnu/libcuda.so.1 !ldconfig\n"
    "symlink " TEST_LIBDIR
    "/libnvidia-ml.so.1 -> "
    "../slipway/store/driver/current/userspace/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 !ldconfig\n"
    "symlink /usr/bin/nvidia-smi -> ../lib/slipway/store/driver/current/userspace/usr/bin/nvidia-smi\n"
    "symlink /usr/lib/firmware/nvidia/535.261.03 -> "
    "../../slipway/store/driver/current/firmware/nvidia/535.261.03\n"
    "symlink /usr/lib/modules/6.1.0-50-amd64/updates/slipway -> "
    "../../../slipway/store/driver/current/modules/6.1.0-50-amd64/kernel !depmod:6.1.0-50-amd64\n"
    "file /etc/modprobe.d/slipway-nvidia.conf\n"
    "file /etc/modules-load.d/slipway-nvidia.conf\n"
    "file /usr/lib/slipway/driver.json\n";

constexpr const char* kControlPart =
    "kernel-module nvidia\nkernel-module nvidia-uvm\nkernel-module nvidia-modeset\n"
    "device-node /dev/nvidiactl 195:255 666\n"
    "device-node /dev/nvidia-uvm nvidia-uvm:0 666\n"
    "device-node /dev/nvidia-uvm-tools nvidia-uvm:1 666\n"
    "device-node /dev/nvidia-modeset 195:254 666\n";

TEST(DriverPlan, OnALiveHostInstallsLoadsAndMakesANodeForEachGpu) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330).gpu("0000:43:00.0", 0x2330);
  const auto plan = Planning{}.good(*host.live());
  EXPECT_EQ(summary(plan), std::string(kFilesPart) + kControlPart +
                               "device-node /dev/nvidia0 195:0 666\ndevice-node /dev/nvidia1 195:1 666\n");
  EXPECT_EQ(plan.outputs(),
            (Json{{"driver_root", "/"}, {"dev_root", "/"}, {"version", "535.261.03"}, {"flavour", "open"}}));
  EXPECT_THAT(plan.notes(),
              Contains(HasSubstr("modules: auto chooses open: H100-SXM (hopper) at 0000:1b:00.0 takes both")));
}

TEST(DriverPlan, ForAnOfflineRootLeavesTheGpuNodesToTheBoot) {
  TestHost host;
  const auto plan = Planning{.target = {.live = false, .hardware = "assume"}}.good(*host.offline());
  EXPECT_EQ(summary(plan), std::string(kFilesPart) + kControlPart);
}

// The spec has precedence over the kernel's view: GPUs may be behind a link that is not up yet.
TEST(DriverPlan, LoadsTheModulesWithoutAGpuWhereTheSpecAssumesOne) {
  TestHost host;
  host.hardware("assume");
  const auto plan = Planning{.target = {.hardware = "assume"}}.good(*host.live());
  EXPECT_EQ(summary(plan), std::string(kFilesPart) + kControlPart);
}

TEST(DriverPlan, IsTheSameTheSecondTimeAndOnceTheDriverIsLoaded) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  const auto first = to_json(Planning{}.good(*host.live()));
  EXPECT_EQ(to_json(Planning{}.good(*host.live())), first);
  host.loaded("535.261.03", {"nvidia", "nvidia-uvm", "nvidia-modeset"});
  host.view().file("/proc/driver/nvidia/gpus/0000:1b:00.0/information", "Device Minor: \t 0\n");
  EXPECT_EQ(to_json(Planning{}.good(*host.live())), first);
}

// Files that apply leaves in an empty root must not change the next plan.
TEST(DriverPlan, OfAnEmptyRootIsTheSameAfterItsFilesExist) {
  const slipway::testing::TempDir root;
  const auto offline = [&] {
    return std::move(*open_host({.root = root.string(), .kernel = "6.1.0-50-amd64", .hardware = "assume"}));
  };
  const Planning planning{.target = {.live = false, .hardware = "assume"}};
  const auto plan = planning.good(*offline());
  for (const auto& action : plan.actions()) {
    if (action.kind() == "file") root.file(action.target(), action.text("content"));
    if (action.kind() == "symlink") root.link(action.target(), action.text("points_to"));
  }
  EXPECT_EQ(to_json(planning.good(*offline())), to_json(plan));
}

TEST(DriverPlan, NumbersNodesAsTheLoadedDriverDoes) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "vfio-pci").gpu("0000:43:00.0", 0x2330, "nvidia");
  host.loaded("535.261.03", {"nvidia", "nvidia-uvm", "nvidia-modeset"});
  host.view().file("/proc/driver/nvidia/gpus/0000:43:00.0/information", "Device Minor: \t 1\n");
  EXPECT_THAT(summary(Planning{}.good(*host.live())), HasSubstr("device-node /dev/nvidia1 195:1 666\n"));
  EXPECT_THAT(summary(Planning{}.good(*host.live())), Not(HasSubstr("/dev/nvidia0")));
}

TEST(DriverPlan, FollowsTheParametersForModesOptionsAndNodes) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  const Planning restricted{
      .more = {{"parameters", {{"nvidia", {{"NVreg_DeviceFileMode", "0660"}, {"NVreg_Foo", 1}}}}}}};
  const auto plan = restricted.good(*host.live());
  EXPECT_THAT(summary(plan), HasSubstr("device-node /dev/nvidia0 195:0 660\n"));
  EXPECT_THAT(plan.notes(), Contains(HasSubstr("slipway does not know the parameter 'NVreg_Foo'")));
  const auto& actions = plan.actions();
  const auto modprobe = std::ranges::find_if(
      actions, [](const Action& action) { return action.target() == "/etc/modprobe.d/slipway-nvidia.conf"; });
  ASSERT_NE(modprobe, actions.end());
  EXPECT_EQ(modprobe->text("content"),
            "# Written by slipway (component driver); change the spec, not this file.\nblacklist nouveau\n"
            "blacklist nova_core\nblacklist nova_drm\nblacklist nova\noptions nouveau modeset=0\n"
            "options nvidia NVreg_DeviceFileMode=0660 NVreg_Foo=1\n");
  const Planning alone{.more = {{"parameters", {{"nvidia", {{"NVreg_ModifyDeviceFiles", 0}}}}}}};
  EXPECT_THAT(summary(alone.good(*host.live())), Not(HasSubstr("device-node")));
}

TEST(DriverPlan, MakesTheInitramfsAgainOnlyWhereNouveauCanBeInIt) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  host.root().file("/usr/sbin/update-initramfs", "");
  host.root().file("/etc/initramfs-tools/modules", "nouveau\n");
  EXPECT_THAT(summary(Planning{}.good(*host.live())),
              HasSubstr("file /etc/modprobe.d/slipway-nvidia.conf !initramfs:6.1.0-50-amd64\n"));
  EXPECT_THAT(summary(Planning{.more = {{"blacklist_nouveau", false}}}.good(*host.live())),
              Not(HasSubstr("initramfs")));
}

std::string content_in(const Plan& plan, const std::string& path) {
  for (const Action& action : plan.actions())
    if (action.target() == path) return action.text("content");
  return "no such file";
}

// Before the fix, dracut's generic initrd contained nouveau but not modprobe.d, so nouveau held the GPUs at each boot.
TEST(DriverPlan, TellsDracutToTakeTheBlacklistAndLeaveTheKernelsDriversOut) {
  TestHost host;
  host.root().file("/usr/bin/dracut", "");
  Planning planning{.target = {.live = false, .hardware = "assume"}};
  const auto plan = planning.good(*host.offline());
  EXPECT_THAT(summary(plan), HasSubstr("file /etc/modprobe.d/slipway-nvidia.conf !initramfs:6.1.0-50-amd64\n"
                                       "file /etc/dracut.conf.d/slipway-nvidia.conf !initramfs:6.1.0-50-amd64\n"));
  EXPECT_EQ(content_in(plan, "/etc/dracut.conf.d/slipway-nvidia.conf"),
            "# Written by slipway (component driver); change the spec, not this file.\n"
            "install_items+=\" /etc/modprobe.d/slipway-nvidia.conf \"\n"
            "omit_drivers+=\" nouveau nova_core nova_drm nova nvidia nvidia_uvm nvidia_modeset nvidia_drm "
            "nvidia_peermem \"\n")
      << "NVIDIA's own would be loaded from the initrd when they have long been replaced";
  planning.more = {{"blacklist_nouveau", false}};
  const auto without = planning.good(*host.offline());
  EXPECT_THAT(summary(without), HasSubstr("file /etc/dracut.conf.d/slipway-nvidia.conf\n")) << "no initrd is made anew";
  EXPECT_THAT(content_in(without, "/etc/dracut.conf.d/slipway-nvidia.conf"), HasSubstr("omit_drivers+=\" nvidia "));
}

// The distribution's next kernel contains nouveau again, and its package makes the initrd without slipway.
TEST(DriverPlan, TellsDracutOfLaterKernelsToo) {
  const slipway::testing::TempDir root;
  root.directory("/usr/lib/modules/6.1.0-50-amd64/kernel");
  root.link("/lib", "usr/lib");
  root.file("/usr/bin/dracut", "");
  const auto host = std::move(*open_host({.root = root.string(), .kernel = "6.1.0-50-amd64", .hardware = "assume"}));
  EXPECT_THAT(summary(Planning{.target = {.live = false, .hardware = "assume"}}.good(*host)),
              HasSubstr("file /etc/dracut.conf.d/slipway-nvidia.conf\n"));
}

TEST(DriverPlan, RebuildsTheInitramfsByDracutWhenUpdateInitramfsExistsToo) {
  TestHost host;
  host.root().file("/usr/bin/dracut", "");
  host.root().file("/usr/sbin/update-initramfs", "");
  host.root().file("/boot/initrd.img-6.1.0-50-amd64", "");
  EXPECT_THAT(summary(Planning{.target = {.live = false, .hardware = "assume"}}.good(*host.offline())),
              HasSubstr("file /etc/modprobe.d/slipway-nvidia.conf !initramfs:6.1.0-50-amd64\n"));
}

TEST(DriverPlan, PutsLinksWhereTheSpecSaysOrNowhere) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  EXPECT_THAT(summary(Planning{.more = {{"libdir", "none"}}}.good(*host.live())),
              Not(HasSubstr("symlink " TEST_LIBDIR)));
  EXPECT_THAT(summary(Planning{.more = {{"libdir", "/opt/lib"}}}.good(*host.live())),
              HasSubstr("symlink /opt/lib/libcuda.so.1 -> ../../usr/lib/slipway/store/driver/current/"));
}

// An image for GB200, built on any machine: the root's programs tell its processor.
TEST(DriverPlan, OfARootForArmTakesThePackageForArm) {
  const slipway::testing::TempDir root;
  root.file("/usr/bin/sh", testing::program_for("aarch64"));
  root.link("/bin", "usr/bin");
  root.link("/lib", "usr/lib");
  root.directory("/usr/lib/aarch64-linux-gnu");
  root.directory("/usr/lib/x86_64-linux-gnu");  // foreign libraries do not matter
  const auto host = std::move(*open_host({.root = root.string(), .kernel = "6.1.0-50-amd64", .hardware = "assume"}));
  EXPECT_EQ(host->arch(), "aarch64");
  Planning planning{.packages = {{.kernel = "6.1.0-50-amd64"}, {.arch = "aarch64"}},
                    .target = {.live = false, .hardware = "assume", .arch = "aarch64"}};
  const auto text = summary(planning.good(*host));
  EXPECT_THAT(text, HasSubstr("symlink /usr/lib/aarch64-linux-gnu/libcuda.so.1 -> "
                              "../slipway/store/driver/current/userspace/usr/lib/aarch64-linux-gnu/libcuda.so.1"));
  EXPECT_THAT(text, Not(HasSubstr("symlink /usr/lib/x86_64")));
  planning.packages.pop_back();
  EXPECT_THAT(planning.bad(*host).what, HasSubstr("no driver package fits"));
}

TEST(DriverPlan, WritesIntoLibWhereThatIsAFolderOfItsOwn) {
  const slipway::testing::TempDir split;
  split.directory("/lib/modules/6.1.0-50-amd64/kernel");
  split.directory("/usr/lib64");
  const auto host = std::move(*open_host({.root = split.string(), .kernel = "6.1.0-50-amd64", .hardware = "assume"}));
  const auto text = summary(Planning{.target = {.live = false, .hardware = "assume"}}.good(*host));
  EXPECT_THAT(text, HasSubstr("symlink /lib/firmware/nvidia/535.261.03 -> ../../../usr/lib/slipway/store/"));
  EXPECT_THAT(text, HasSubstr("symlink /lib/modules/6.1.0-50-amd64/updates/slipway -> ../../../../usr/lib/slipway/"));
  EXPECT_THAT(text, HasSubstr("symlink /usr/lib64/libcuda.so.1 -> ../lib/slipway/store/"));
}

TEST(DriverPlan, WaitsForARebootWhileNouveauHoldsAGpu) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "nouveau");
  const auto plan = Planning{}.good(*host.live());
  EXPECT_EQ(summary(plan),
            std::string(kFilesPart) + "custom reboot {\"awaits\":\"other-driver\",\"blacklisted\":true}\n");
  const auto& action = plan.actions().back();
  EXPECT_EQ(action.text("summary"), "reboot: nouveau holds a GPU");
  EXPECT_EQ(action.value("lost_at_boot"), true) << "slipway-boot.service does the rest at that boot";
  EXPECT_FALSE(*Driver{}.check(action, *host.live()));
  const auto outcome = Driver{}.apply(action, *host.live());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, Outcome::Kind::reboot_required);
  EXPECT_EQ(
      outcome->reason,
      "the kernel's own driver (nouveau) holds H100-SXM at 0000:1b:00.0; it is blacklisted from the next boot on");
}

// Before the fix, the module was loaded, found no device, and the failed apply removed the blacklist again: no reboot
// ever helped.
TEST(DriverPlan, WaitsForARebootWhileNovaHoldsAGpu) {
  TestHost host;
  host.gpu("0000:00:1e.0", 0x2330, "NovaCore");
  host.view().directory("/sys/module/nova_core");
  const auto plan = Planning{}.good(*host.live());
  EXPECT_EQ(summary(plan),
            std::string(kFilesPart) + "custom reboot {\"awaits\":\"other-driver\",\"blacklisted\":true}\n");
  EXPECT_EQ(plan.actions().back().text("summary"), "reboot: nova_core holds a GPU");
  EXPECT_THAT(plan.notes(),
              Contains("the kernel's own driver (nova_core) holds a GPU; the modules are loaded after the "
                       "reboot"));
  EXPECT_FALSE(*Driver{}.check(plan.actions().back(), *host.live()));
  EXPECT_EQ(
      Driver{}.apply(plan.actions().back(), *host.live())->reason,
      "the kernel's own driver (nova_core) holds H100-SXM at 0000:00:1e.0; it is blacklisted from the next boot on");
  const auto left = Planning{.more = {{"blacklist_nouveau", false}}}.good(*host.live());
  EXPECT_THAT(Driver{}.apply(left.actions().back(), *host.live())->reason,
              HasSubstr("with blacklist_nouveau: false, you have to keep it away yourself"));
}

TEST(DriverPlan, PlansItsModuleVersionWhileAnotherIsLoaded) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "nvidia").loaded("470.256.02", {"nvidia", "nvidia-uvm"}, false);
  const auto plan = Planning{}.good(*host.live());
  EXPECT_EQ(summary(plan), std::string(kFilesPart) +
                               R"(custom loaded driver {"drain":{"policy":"fail-fast"},"flavour":"open",)"
                               R"("kubelet_socket":"","version":"535.261.03"})"
                               "\n" +
                               kControlPart + "device-node /dev/nvidia0 195:0 666\ncustom services of the driver {}\n");
  const auto& actions = plan.actions();
  const auto nvidia = std::ranges::find_if(actions, [](const Action& action) { return action.target() == "nvidia"; });
  ASSERT_NE(nvidia, actions.end());
  EXPECT_EQ(nvidia->text("version"), "535.261.03");
  const auto free =
      std::ranges::find_if(actions, [](const Action& action) { return action.target() == "loaded driver"; });
  EXPECT_EQ(free->text("summary"), "free the loaded driver 470.256.02 (proprietary): unload its modules");
  EXPECT_EQ(free->text("because"), "535.261.03 (open) is to be loaded");
  EXPECT_EQ(free->text("interrupts"), "driver reload");
  EXPECT_EQ(free->value("before_switch"), true);
}

// Earlier the modules of the other flavour stayed loaded until a reboot, with the libraries of this one.
TEST(DriverPlan, ReplacesALoadedDriverOfTheOtherFlavour) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "nvidia").loaded("535.261.03", {"nvidia", "nvidia-uvm", "nvidia-modeset"}, false);
  EXPECT_THAT(summary(Planning{}.good(*host.live())), HasSubstr("custom loaded driver {"));
  EXPECT_THAT(
      summary(Planning{.packages = {TestPackage{.flavour = "proprietary"}}, .more = {{"modules", "proprietary"}}}.good(
          *host.live())),
      Not(HasSubstr("custom")));
}

TEST(DriverPlan, LeavesTheReplacementToABootByThatPolicy) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "nvidia").loaded("470.256.02", {"nvidia"}, false);
  const auto plan = Planning{.more = {{"drain", "next-boot"}}}.good(*host.live());
  const auto& actions = plan.actions();
  const auto free =
      std::ranges::find_if(actions, [](const Action& action) { return action.target() == "loaded driver"; });
  ASSERT_NE(free, actions.end());
  EXPECT_EQ(free->text("interrupts"), "reboot");
  EXPECT_THAT(plan.notes(), Contains(HasSubstr("leaves the change of the driver to slipway-boot.service")));
}

TEST(DriverPlan, RefusesUnsignedModulesUnderAKernelThatRefusesThem) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  host.view().file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  host.view().file("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
                   std::string("\x06\0\0\0\x01", 5));
  EXPECT_EQ(to_text(Planning{}.bad(*host.live())),
            "error: this kernel refuses modules without a trusted signature (Secure Boot is on), and those of driver "
            "535.261.03 have none\n  at:    spec.components.driver.source\n  do:    use a package with signed modules: "
            "`slipway driver build --sign-key KEY --sign-cert CERT`\n");
  Planning{.packages = {{.extra = {{annotation::kSigner, "MOK"}}}}}.good(*host.live());
  host.build_tools();
  const Planning compiled{.packages = {{.kernel = ""}}};
  EXPECT_THAT(compiled.bad(*host.live()).next, HasSubstr("name a key in signing:"));
  Planning signs = compiled;
  signs.more = {{"signing", {{"key", {{"file", "/etc/mok.key"}}}, {"certificate", "/etc/mok.der"}}}};
  signs.good(*host.live());
}

TEST(DriverPlan, RequiresAGpuWhenTheSpecDoes) {
  TestHost host;
  host.hardware("require");
  EXPECT_EQ(to_text(Planning{.target = {.hardware = "require"}}.bad(*host.live())),
            "error: there is no NVIDIA GPU on the PCI bus\n  at:    spec.hardware = require\n  do:    write hardware: "
            "assume to install the driver without a GPU, or look for the GPU with `lspci -d 10de:`\n");
}

TEST(DriverPlan, ReportsTheReasonForAMissingKernel) {
  TestHost host;
  Planning planning{.target = {.live = false, .kernel = "", .hardware = "assume"}};
  EXPECT_THAT(planning.bad(*host.offline()).next, HasSubstr("--kernel RELEASE"));
}

TEST(DriverPlan, AsksForTheWholeCatalogueOnlyWhenTheLockDoesNotDecide) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  EXPECT_EQ((Planning{.packages = {}, .complete = false}.bad(*host.live()).code), ErrorCode::needs_catalogue);
  EXPECT_EQ(to_json(Planning{.complete = false}.good(*host.live())), to_json(Planning{}.good(*host.live())));
}

TEST(DriverPlan, NamesTheKernelsThatHavePackagesWhenItWouldHaveToCompileAndCannot) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  const Planning planning{.packages = {{.kernel = "6.1.0-47-amd64"}, {.kernel = "6.1.0-53-amd64"}, {.kernel = ""}}};
  const auto text = to_text(planning.bad(*host.live()));
  EXPECT_THAT(text, HasSubstr("must be compiled for kernel 6.1.0-50-amd64, and its headers are not installed\n"));
  EXPECT_THAT(text, HasSubstr("found: 535.261.03 open debian12 x86_64: kernels 6.1.0-47-amd64, 6.1.0-53-amd64\n"));
}

TEST(DriverPlan, LeavesOutABrokenPackageAndSaysSo) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330);
  Planning planning;
  planning.packages.push_back({.version = "535.261.03", .flavour = "closed"});
  EXPECT_THAT(planning.good(*host.live()).notes(), Contains(HasSubstr("is neither open nor proprietary")));
}

// Before the fix, such modules were installed, and the apply ended with "driver: failed" beside "Generation 2 is
// active".
TEST(PlanVermagic, OfModulesThatTheKernelWouldRefuseIsAnErrorBeforeAnythingIsChanged) {
  TestHost host;
  host.gpu("0000:65:00.0", 0x2330);
  host.root().file("usr/lib/modules/6.1.0-50-amd64/kernel/a.ko", testing::content_of(MODULE_50));
  Planning planning;
  planning.packages = {TestPackage{.vermagic = "6.1.0-50-amd64 SMP preempt mod_unload modversions"}};
  planning.good(*host.live());
  planning.packages = {TestPackage{.vermagic = "6.1.0-50-amd64 SMP mod_unload "}};
  const Error error = planning.bad(*host.live());
  EXPECT_THAT(error.what, HasSubstr("they were made for '6.1.0-50-amd64 SMP mod_unload'"));
  EXPECT_THAT(error.what, HasSubstr("the kernel takes '6.1.0-50-amd64 SMP preempt mod_unload modversions'"));
}

TEST(PlanVermagic, OfAnotherReleaseIsAnErrorWhereTheKernelHasNoModulesToCompareWith) {
  TestHost host;
  host.gpu("0000:65:00.0", 0x2330);
  Planning planning;
  planning.packages = {TestPackage{.vermagic = "6.1.0-49-amd64 SMP preempt"}};
  EXPECT_THAT(planning.bad(*host.live()).what, HasSubstr("do not fit kernel 6.1.0-50-amd64"));
}

}  // namespace
}  // namespace slipway::driver
