// SPDX-License-Identifier: Apache-2.0
#include "driver/fits/fits.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "driver/component/driver.hpp"
#include "tests/unit/plugins/driver/compressed.hpp"
#include "tests/unit/plugins/driver/own_kernel.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::module_elf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kKernel;
using testing::kOwn;
using testing::OwnKernel;
using testing::TestHost;
using testing::TestSigner;

const std::string kSecureBoot =
    "not checked: signatures, since only the machine shows whether it boots with Secure Boot";

ModuleRecord record(const base::SymbolVersions& versions) { return {"nvidia.ko", versions, {}, false}; }

std::string answer(const Fit& fit) {
  std::string text;
  for (const auto& fault : fit.faults) text += to_text(fault);
  return text + fit.text(kKernel);
}

class Fits : public ::testing::Test {
 protected:
  std::string of(const std::vector<ModuleRecord>& modules) const {
    return answer(fit_of(modules, *kernel.host.offline(), kKernel, {}));
  }
  OwnKernel kernel;
};

TEST_F(Fits, AModuleWithTheKernelsChecksums) {
  EXPECT_EQ(of({record({{"module_layout", kOwn}, {"fget", 0xf1}, {"elsewhere", 7}})}),
            "2 symbol checksums agree with kernel 6.1.0-50-amd64; " + kSecureBoot);
}

// A kernel that was built again under its release: modprobe says "disagrees about version of symbol module_layout".
TEST_F(Fits, NotAModuleOfAnotherBuildOfTheSameRelease) {
  EXPECT_EQ(of({record({{"fget", 0xf2}, {"module_layout", 0x12345678}})}),
            "error: nvidia.ko was compiled for another build of kernel 6.1.0-50-amd64: it has checksum 0x12345678 for "
            "the symbol module_layout, and this kernel has 0xbce1a965\n"
            "  kernel: /lib/modules/6.1.0-50-amd64/kernel/arch/x86/aes.ko.xz has 0xbce1a965 for module_layout\n"
            "  symbols: 2 of 2 differ: fget, module_layout\n"
            "  do:    use a package that was made with the headers of this build of the kernel: `slipway driver build "
            "--kernel 6.1.0-50-amd64` makes one; a kernel may be built again under the same release\n"
            "2 symbol checksums agree with kernel 6.1.0-50-amd64; " +
                kSecureBoot);
}

TEST_F(Fits, NotAModuleWithoutChecksums) {
  EXPECT_THAT(of({record({})}), HasSubstr("nvidia.ko records no symbol checksums, and kernel 6.1.0-50-amd64 demands "
                                          "them (CONFIG_MODVERSIONS)"));
}

TEST_F(Fits, CannotBeToldOfAKernelWithoutChecksumsOrModules) {
  kernel.own_module(module_elf({}, {std::string("vermagic=") + kKernel + " SMP "}));
  EXPECT_EQ(of({record({{"module_layout", 1}})}),
            "not checked: symbol checksums, which kernel 6.1.0-50-amd64 does not have (it is built without "
            "CONFIG_MODVERSIONS); " +
                kSecureBoot);
  kernel.own_module("");
  EXPECT_EQ(
      of({record({{"module_layout", 1}})}),
      "not checked: symbol checksums, because no module of kernel 6.1.0-50-amd64 itself can be read; " + kSecureBoot);
}

TEST_F(Fits, AreComparedInAllSymbolsOfModuleSymvers) {
  kernel.host.build_tools();
  const std::string headers = std::string("/usr/src/linux-headers-") + kKernel;
  kernel.host.root().file(headers + "/Module.symvers",
                          "0xbce1a965\tmodule_layout\tvmlinux\n0x0000000a\tvmap\tvmlinux\n");
  EXPECT_THAT(of({record({{"module_layout", kOwn}, {"vmap", 0xb}})}),
              AllOf(HasSubstr("has checksum 0x0000000b for the symbol vmap"),
                    HasSubstr("kernel: " + headers + "/Module.symvers has 0x0000000a for vmap")));
  // RHEL keeps the list beside the modules, packed.
  std::filesystem::remove(kernel.host.root().at(headers + "/Module.symvers"));
  kernel.host.root().file(
      std::string("/usr/lib/modules/") + kKernel + "/symvers.gz",
      testing::compressed("0xbce1a965\tmodule_layout\tvmlinux\n0x0000000c\tvmap\tvmlinux\n", "gzip"));
  EXPECT_THAT(of({record({{"vmap", 0xb}})}), HasSubstr("this kernel has 0x0000000c"));
}

// Headers that were installed from another build do not count: the kernel's own modules are the kernel's.
TEST_F(Fits, AreNotJudgedByTheHeadersOfAnotherBuild) {
  kernel.host.build_tools();
  kernel.host.root().file(std::string("/usr/src/linux-headers-") + kKernel + "/Module.symvers",
                          "0x12345678\tmodule_layout\tvmlinux\n0x0000000a\tvmap\tvmlinux\n");
  EXPECT_THAT(of({record({{"module_layout", kOwn}, {"vmap", 0xb}})}),
              AllOf(HasSubstr("1 symbol checksums agree"),
                    HasSubstr("not used: /usr/src/linux-headers-6.1.0-50-amd64/Module.symvers is "
                              "of another build of kernel 6.1.0-50-amd64")));
}

// Without headers, large modules of the kernel tell more of its checksums.
TEST_F(Fits, AreComparedWithWhatTheKernelsOwnModulesImport) {
  const std::string drm = std::string("/usr/lib/modules/") + kKernel + "/kernel/drivers/gpu/drm/drm.ko.zst";
  kernel.host.root().file(drm, testing::compressed(module_elf({{"vmap", 0xa}}), "zstd"));
  EXPECT_THAT(of({record({{"vmap", 0xb}})}), HasSubstr("drivers/gpu/drm/drm.ko.zst has 0x0000000a for vmap"));
}

// NVIDIA's peermem may be compiled for the ib_core of Mellanox OFED, which is beside the kernel's own.
TEST_F(Fits, AreNotJudgedBySymbolsOfModulesThatReplaceTheKernels) {
  const std::string folder = std::string("/usr/lib/modules/") + kKernel;
  kernel.own_module(
      module_elf({{"module_layout", kOwn}, {"ib_register_client", 1}}, {std::string("vermagic=") + kKernel + " SMP "}));
  kernel.host.root().file(folder + "/modules.dep", "updates/dkms/ib_core.ko.xz:\nkernel/a.ko:\n");
  kernel.host.root().file(folder + "/modules.symbols",
                          "# Aliases\nalias symbol:ib_register_client ib_core\nalias symbol:other a\n");
  EXPECT_EQ(of({record({{"module_layout", kOwn}, {"ib_register_client", 2}})}),
            "2 symbol checksums agree with kernel 6.1.0-50-amd64; not checked: ib_register_client, of modules that are "
            "not part "
            "of kernel 6.1.0-50-amd64; " +
                kSecureBoot);
}

TEST_F(Fits, AreRefusedForAThrowAwayKeyOfAnotherBuild) {
  const TestSigner own("Build time autogenerated kernel key", 0x77);
  const TestSigner other("Build time autogenerated kernel key", 0x78);
  const std::string module = module_elf({{"module_layout", kOwn}}, {std::string("vermagic=") + kKernel + " SMP "});
  kernel.own_module(own.sign(module));
  const auto signed_by = [&](const TestSigner& signer) { return *module_record("nvidia.ko", signer.sign(module)); };
  EXPECT_EQ(of({signed_by(other)}), "1 symbol checksums agree with kernel 6.1.0-50-amd64; " + kSecureBoot);
  EXPECT_EQ(of({signed_by(own)}), "1 symbol checksums agree with kernel 6.1.0-50-amd64") << "the kernel's own key";
  kernel.host.root().file(std::string("/boot/config-") + kKernel, "CONFIG_MODULE_SIG_FORCE=y\n");
  EXPECT_THAT(
      of({signed_by(other)}),
      AllOf(HasSubstr("error: kernel 6.1.0-50-amd64 loads only modules with a trusted signature "
                      "(CONFIG_MODULE_SIG_FORCE=y in /boot/config-6.1.0-50-amd64), and nvidia.ko is signed by Build "
                      "time autogenerated kernel key (serial 78), which it does not trust"),
            HasSubstr("its own modules are signed by Build time autogenerated kernel key (serial 77)")));
  EXPECT_THAT(of({*module_record("nvidia.ko", module)}), HasSubstr("and nvidia.ko is not signed"));
  EXPECT_EQ(of({signed_by(own)}),
            "1 symbol checksums agree with kernel 6.1.0-50-amd64; the kernel trusts the signatures");
  EXPECT_THAT(of({signed_by(TestSigner("Vendor", 5))}),
              HasSubstr("not checked: whether kernel 6.1.0-50-amd64, which loads only modules with a trusted signature "
                        "(CONFIG_MODULE_SIG_FORCE=y in /boot/config-6.1.0-50-amd64), trusts Vendor (serial 05)"));
}

TEST_F(Fits, AreCheckedInUnpackedLayersBeforeAnApplySwitchesToThem) {
  const std::string folder = "/usr/lib/slipway/store/driver/.staging-x";
  const Action action(Json{{"kind", "unpack"},
                           {"target", "driver"},
                           {"check", Json::object()},
                           {"staged", {{std::string("modules/") + kKernel, folder}, {"userspace", "/missing"}}}});
  kernel.host.root().file(folder + "/kernel/nvidia.ko", module_elf({{"module_layout", kOwn}}));
  const Driver driver;
  EXPECT_TRUE(driver.check(action, *kernel.host.offline()).value_or(false));
  kernel.host.root().file(folder + "/kernel/nvidia.ko", module_elf({{"module_layout", 0x12345678}}));
  const auto refused = driver.check(action, *kernel.host.offline());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where, folder + "/kernel");
  EXPECT_THAT(refused.error().what, HasSubstr("checksum 0x12345678 for the symbol module_layout"));
  kernel.host.root().file(folder + "/kernel/nvidia.ko", "no module");
  EXPECT_FALSE(driver.check(action, *kernel.host.offline()));
}

TEST(KernelSymbols, SurviveTheirWayThroughFacts) {
  KernelSymbols symbols{true, true, {{"a.ko", {{"module_layout", kOwn}}}, {"Module.symvers", {}}}, "left out"};
  const auto back = Json(symbols).get<KernelSymbols>();
  EXPECT_EQ(Json(back), Json(symbols));
  EXPECT_EQ(back.find("module_layout"), &back.sources.front());
  EXPECT_EQ(back.find("vmap"), nullptr);
  EXPECT_THAT(symbol_versions_from_json({{"good", "0x1"}, {"bad", 1}, {"worse", "1"}}),
              ElementsAre(::testing::Pair("good", 1)));
  EXPECT_THAT(symbol_versions_from_json("text"), IsEmpty());
}

}  // namespace
}  // namespace slipway::driver
