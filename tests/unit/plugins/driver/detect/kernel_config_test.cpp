// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/kernel_config.hpp"

#include <gmock/gmock.h>

#include "driver/detect/kernel_driver.hpp"
#include "driver/detect/root_layout.hpp"
#include "driver/module/trusted_keys.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using testing::kKernel;
using testing::TestHost;

TEST(KernelConfig, IsReadLineByLine) {
  const std::string config = "# CONFIG_A is not set\nCONFIG_B=y\nCONFIG_BB=m\nCONFIG_T=\"a b\"\nXCONFIG_C=y\nCONFIG_E=";
  EXPECT_EQ(config_value(config, "CONFIG_A"), "");
  EXPECT_EQ(config_value(config, "CONFIG_B"), "y");
  EXPECT_EQ(config_value(config, "CONFIG_T"), "a b");
  EXPECT_EQ(config_value(config, "CONFIG_C"), "");
  EXPECT_EQ(config_value(config, "CONFIG_E"), "");
}

TEST(KernelConfig, NamesTheCompilersProgram) {
  EXPECT_EQ(compiler_program("gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0"), "gcc-12");
  EXPECT_EQ(compiler_program("x86_64-linux-gnu-gcc-13 (Ubuntu 13.3.0) 13.3.0"), "x86_64-linux-gnu-gcc-13");
  EXPECT_EQ(compiler_program("gcc (GCC) 11.4.1"), "gcc");
  EXPECT_EQ(compiler_program("Debian clang version 14.0.6"), "clang");
  EXPECT_EQ(compiler_program(""), "gcc");
}

TEST(KernelHeaders, AreReadWhereTheBuildLinkLeads) {
  TestHost host;
  EXPECT_FALSE(read_kernel_headers(*host.offline(), kKernel));
  host.build_tools();
  const auto headers = read_kernel_headers(*host.offline(), kKernel);
  ASSERT_TRUE(headers);
  EXPECT_EQ(headers->path, "/usr/src/linux-headers-6.1.0-50-amd64");
  EXPECT_EQ(headers->compiler, "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0");
  EXPECT_FALSE(headers->preempt_rt);
}

TEST(KernelHeaders, HaveAnotherIdentityWhenTheirSymbolsOrConfigurationChange) {
  TestHost host;
  host.build_tools();
  const auto before = read_kernel_headers(*host.offline(), kKernel)->identity;
  EXPECT_EQ(read_kernel_headers(*host.offline(), kKernel)->identity, before);
  host.root().file("/usr/src/linux-headers-6.1.0-50-amd64/Module.symvers", "0x2\tprintk\tvmlinux\tEXPORT_SYMBOL\n");
  EXPECT_NE(read_kernel_headers(*host.offline(), kKernel)->identity, before);
}

TEST(ModuleCompression, IsThatOfTheKernelsOwnModules) {
  for (const auto& [name, compression] : std::vector<std::pair<std::string, std::string>>{
           {"a.ko", ""}, {"a.ko.xz", "xz"}, {"a.ko.zst", "zstd"}, {"a.ko.gz", "gz"}}) {
    TestHost host;
    host.root().file("/usr/lib/modules/" + std::string(kKernel) + "/kernel/arch/x86/" + name, "");
    EXPECT_EQ(module_compression(*host.offline(), kKernel), compression) << name;
  }
  EXPECT_EQ(module_compression(*TestHost().offline(), "5.10.0"), "");
}

TEST(Signatures, AreEnforcedByParameterOrLockdown) {
  TestHost host;
  EXPECT_EQ(running_kernel_enforces(*host.live()), "");
  host.view().file("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  EXPECT_EQ(running_kernel_enforces(*host.live()), "");
  host.view().file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_EQ(running_kernel_enforces(*host.live()), "lockdown is integrity");
  TestHost other;
  other.view().file("/sys/module/module/parameters/sig_enforce", "Y\n");
  EXPECT_EQ(running_kernel_enforces(*other.live()), "module.sig_enforce is on");
  EXPECT_FALSE(secure_boot(*other.live()));
  other.view().file("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
                    std::string("\x06\0\0\0\x01", 5));
  EXPECT_EQ(secure_boot(*other.live()), true);
}

TEST(Initramfs, OfDebiansDefaultHoldsNoNouveau) {
  TestHost host;
  EXPECT_EQ(read_initramfs(*host.offline(), kKernel).tool, "");
  host.root().file("/usr/sbin/update-initramfs", "");
  host.root().file("/etc/initramfs-tools/initramfs.conf", "# MODULES: [ most | netboot | dep | list ]\nMODULES=most\n");
  const auto initramfs = read_initramfs(*host.offline(), kKernel);
  EXPECT_EQ(initramfs.tool, "initramfs-tools");
  EXPECT_FALSE(initramfs.may_hold_nouveau);
}

TEST(Initramfs, MayHoldNouveauByNameByModeOrByASplashScreen) {
  for (const auto& [path, content] : std::vector<std::pair<std::string, std::string>>{
           {"/etc/initramfs-tools/modules", "# list\nnouveau\n"},
           {"/etc/initramfs-tools/conf.d/driver-policy", "MODULES=dep\n"},
           {"/usr/share/initramfs-tools/hooks/plymouth", "#!/bin/sh\n"},
           {"/usr/share/initramfs-tools/conf-hooks.d/cryptsetup", "FRAMEBUFFER=y\n"}}) {
    TestHost host;
    host.root().file("/usr/sbin/update-initramfs", "");
    host.root().file(path, content);
    EXPECT_TRUE(read_initramfs(*host.offline(), kKernel).may_hold_nouveau) << path;
    EXPECT_FALSE(read_initramfs(*host.offline(), "without-nouveau").may_hold_nouveau) << path;
  }
}

TEST(Initramfs, MayHoldNovaOfAKernelThatHasNoNouveau) {
  TestHost host;
  const std::string nova = "6.17.0";
  for (const auto* suffix : {"", ".xz", ".zst", ".gz"}) {
    const std::string module = "/usr/lib/modules/" + nova + "/kernel/drivers/gpu/nova-core/nova_core.ko" + suffix;
    host.root().file(module, "");
    host.root().file("/usr/bin/dracut", "");
    EXPECT_TRUE(read_initramfs(*host.offline(), nova).may_hold_nouveau) << module;
    std::filesystem::remove(host.root().at(module));
    EXPECT_FALSE(read_initramfs(*host.offline(), nova).may_hold_nouveau);
  }
}

TEST(Initramfs, IsDracutsWhereUpdateInitramfsMayStartDracut) {
  TestHost host;
  host.root().file("/usr/bin/dracut", "");
  host.root().file("/usr/sbin/update-initramfs", "");
  const auto initramfs = read_initramfs(*host.offline(), kKernel);
  EXPECT_EQ(initramfs.tool, "dracut");
  EXPECT_TRUE(initramfs.may_hold_nouveau) << "it takes graphics drivers without being asked to";
}

TEST(KernelDriver, IsKnownByTheNamesThatTheKernelUses) {
  for (const auto* driver : {"nouveau", "NovaCore", "nova_core", "nova"})
    EXPECT_TRUE(is_kernel_driver(driver)) << driver;
  for (const auto* driver : {"nvidia", "vfio-pci", ""}) EXPECT_FALSE(is_kernel_driver(driver)) << driver;
  EXPECT_EQ(kernel_driver_module("NovaCore"), "nova_core");
  EXPECT_EQ(kernel_driver_module("nouveau"), "nouveau");
}

TEST(RootLayout, KnowsMergedAndSplitRootsAndBothLibraryFolders) {
  TestHost merged;
  EXPECT_EQ(lib_folder(*merged.offline()), "/usr/lib");
  EXPECT_EQ(public_libdir(*merged.offline()), TEST_LIBDIR);
  const slipway::testing::TempDir split;
  split.directory("/lib/modules");
  split.directory("/usr/lib64");
  const auto host = open_host({.root = split.string()});
  EXPECT_EQ(lib_folder(**host), "/lib");
  EXPECT_EQ(public_libdir(**host), "/usr/lib64");
  const slipway::testing::TempDir empty;
  EXPECT_EQ(lib_folder(**open_host({.root = empty.string()})), "/lib");
  EXPECT_EQ(public_libdir(**open_host({.root = empty.string()})), "");
}

TEST(RootLayout, NamesASystemAsPackagesDo) {
  EXPECT_EQ(os_tag("debian", "12"), "debian12");
  EXPECT_EQ(os_tag("ubuntu", "24.04"), "ubuntu24.04");
  EXPECT_EQ(os_tag("rhel", "9.4"), "rhel9");
  EXPECT_EQ(os_tag("", "9.4"), "");
}

TEST(RootLayout, LinksAreRelativeSoThatTheyHoldUnderAnyRoot) {
  EXPECT_EQ(
      relative_target("/usr/bin/nvidia-smi", "/usr/lib/slipway/store/driver/current/userspace/usr/bin/nvidia-smi"),
      "../lib/slipway/store/driver/current/userspace/usr/bin/nvidia-smi");
  EXPECT_EQ(relative_target("/lib/modules/6.1/updates/slipway", "/usr/lib/slipway/x"), "../../../../usr/lib/slipway/x");
}

}  // namespace
}  // namespace slipway::driver
