// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/component/driver.hpp"
#include "driver/module/key_id.hpp"
#include "driver/package/annotations.hpp"
#include "tests/unit/plugins/driver/own_kernel.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"

namespace slipway::driver {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::kKernel;
using ::testing::Not;
using testing::OwnKernel;
using testing::TestPackage;
using testing::TestSigner;
using testing::TestTarget;

class PackageFits : public ::testing::Test {
 protected:
  PackageFits() { kernel.host.hardware("assume"); }
  Result<Plan> plan(const Host& on) const {
    const Spec spec{Json{{"version", "535.261.03"},
                         {"source", {{"repository", testing::kRepository}}},
                         {"modules", "open"},
                         {"precompiled", "prefer"},
                         {"load", {"nvidia"}},
                         {"libdir", "auto"},
                         {"existing", "refuse"},
                         {"signing", signing}}};
    const Driver driver;
    SLIPWAY_TRY(facts, driver.detect(spec, on));
    SLIPWAY_TRY(back, facts_from_json(slipway::to_json(facts)));
    return driver.plan(spec, back, testing::inputs({package}, TestTarget{.live = on.live(), .hardware = "assume"}));
  }
  std::string refusal(const Host& on) const {
    const auto refused = plan(on);
    EXPECT_FALSE(refused);
    return refused ? std::string{} : to_text(refused.error());
  }
  std::vector<std::string> notes(const Host& on) const {
    const auto good = plan(on);
    EXPECT_TRUE(good) << to_text(good.error());
    return good ? good->notes() : std::vector<std::string>{};
  }
  void signed_by(const TestSigner& signer) {
    package.extra[annotation::kSigner] = "Build";
    package.modules_notes[annotation::kSignerKey] =
        canonical(Json(key_of_certificate(signer.certificate()).value_or(KeyId{})));
  }

  OwnKernel kernel;
  TestPackage package{.modules_notes = {{annotation::kSymbols, R"({"nvidia.ko.xz":{"module_layout":"0xbce1a965"}})"}}};
  Json signing = Json::object();
};

TEST_F(PackageFits, TheKernelWhoseChecksumsItRecords) {
  EXPECT_THAT(notes(*kernel.host.offline()), Not(Contains(HasSubstr("not checked"))));
  EXPECT_THAT(notes(*kernel.host.live()), Not(Contains(HasSubstr("not checked"))));
}

// Before the fix, a package for another build was installed, and modprobe said "disagrees about version of symbol
// module_layout" at the next boot.
TEST_F(PackageFits, NoOtherBuildOfThatKernel) {
  package.modules_notes[annotation::kSymbols] = R"({"nvidia.ko.xz":{"module_layout":"0x12345678"}})";
  for (const auto& host : {kernel.host.live(), kernel.host.offline()})
    EXPECT_THAT(refusal(*host),
                AllOf(HasSubstr("nvidia.ko.xz was compiled for another build of kernel 6.1.0-50-amd64: it has checksum "
                                "0x12345678 for the symbol module_layout, and this kernel has 0xbce1a965"),
                      HasSubstr("at:    535.261.03-open-6.1.0-50-amd64"),
                      HasSubstr("/kernel/arch/x86/aes.ko.xz has 0xbce1a965 for module_layout"),
                      HasSubstr("slipway driver build --kernel 6.1.0-50-amd64")));
}

TEST_F(PackageFits, IsNotCheckedByThePlanIfItRecordsNothing) {
  package.modules_notes = Json::object();
  EXPECT_THAT(notes(*kernel.host.offline()),
              Contains(HasSubstr("not checked: symbol checksums for kernel 6.1.0-50-amd64, which this package does not "
                                 "record (dev.slipway.kernel.symbols)")));
}

TEST_F(PackageFits, IsNotCheckedForAKernelWithoutChecksums) {
  kernel.own_module(slipway::testing::module_elf({}, {std::string("vermagic=") + kKernel + " SMP "}));
  for (const Json& recorded : {package.modules_notes, Json(Json::object())}) {
    package.modules_notes = recorded;
    EXPECT_THAT(notes(*kernel.host.offline()), Contains(HasSubstr("built without CONFIG_MODVERSIONS")));
  }
}

TEST_F(PackageFits, NoKernelThatTrustsOtherKeys) {
  const TestSigner own("Build key", 0x77);
  kernel.own_module(own.sign(slipway::testing::module_elf(
      {{"module_layout", testing::kOwn}}, {std::string("vermagic=") + kKernel + " SMP mod_unload modversions "})));
  kernel.host.root().file(std::string("/boot/config-") + kKernel, "CONFIG_MODULE_SIG_FORCE=y\n");
  signed_by(own);
  EXPECT_THAT(notes(*kernel.host.offline()), Not(Contains(HasSubstr("not checked"))));
  signed_by(TestSigner("Build key", 0x78));
  EXPECT_THAT(refusal(*kernel.host.offline()),
              HasSubstr("is signed by Build key (serial 78), which it does not trust"));
  // Of another key a root that does not run cannot tell, unless the spec says which keys the machine trusts.
  const TestSigner vendor("Vendor", 0x99);
  signed_by(vendor);
  EXPECT_THAT(notes(*kernel.host.offline()), Contains(HasSubstr("trusts Vendor (serial 99); name its certificate")));
  kernel.host.root().file("/vendor.der", vendor.certificate());
  kernel.host.root().file("/own.der", own.certificate());
  signing = {{"trusted", {kernel.host.root().at("/own.der")}}};
  EXPECT_THAT(refusal(*kernel.host.offline()), HasSubstr("Vendor (serial 99), which it does not trust"));
  signing["trusted"].push_back(kernel.host.root().at("/vendor.der"));
  EXPECT_THAT(notes(*kernel.host.offline()), Not(Contains(HasSubstr("not checked"))));
  signing["trusted"].push_back("/missing.der");
  EXPECT_THAT(refusal(*kernel.host.offline()), AllOf(HasSubstr("/missing.der"), HasSubstr("signing.trusted")));
}

TEST_F(PackageFits, NoRunningKernelThatDoesNotListItsKey) {
  const TestSigner vendor("Vendor", 0x55);
  const KeyId key = key_of_certificate(vendor.certificate()).value_or(KeyId{});
  kernel.host.view().file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  kernel.host.view().file("/proc/keys", "1 I 1 perm 1f030000 0 0 asymmetri Else: 6ccece: X509.rsa 6ccece []\n");
  signed_by(vendor);
  EXPECT_THAT(refusal(*kernel.host.live()),
              AllOf(HasSubstr("(lockdown is integrity)"), HasSubstr("Vendor (serial 55)")));
  kernel.host.view().file("/proc/keys", "1 I 1 perm 1f030000 0 0 asymmetri Vendor: " + key.key + ": X509.rsa 1 []\n");
  EXPECT_THAT(notes(*kernel.host.live()), Not(Contains(HasSubstr("not checked"))));
  package.modules_notes.erase(annotation::kSignerKey);
  EXPECT_THAT(notes(*kernel.host.live()), Contains(HasSubstr("trusts a key that the package does not record")));
}

}  // namespace
}  // namespace slipway::driver
