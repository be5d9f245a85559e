// SPDX-License-Identifier: Apache-2.0
// Packages whose modules are of another build of the kernel, or signed by a key that it does not trust, through the
// command line: refused before anything is installed.
#include <filesystem>

#include "tests/component/cli/driver_root.hpp"
#include "tests/unit/base/elf/module_elf.hpp"
#include "tests/unit/plugins/driver/test_signer.hpp"

namespace slipway {
namespace {

using driver::testing::TestSigner;
using slipway::testing::DriverRoot;
using slipway::testing::module_elf;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRelease = "6.1.0-50-amd64";
const std::vector<std::string> kInfo{"vermagic=" + kRelease + " SMP preempt mod_unload modversions ",
                                     "version=535.261.03", "license=Dual MIT/GPL"};
constexpr std::uint32_t kRight = 0xbce1a965;
constexpr std::uint32_t kWrong = 0x12345678;

class ModuleFits : public ::testing::Test {
 protected:
  ModuleFits() {
    for (const char* name : {"modules.builtin", "modules.order"}) root.put("lib/modules/" + kRelease + "/" + name, "");
    own_module(module_elf({{"module_layout", kRight}}, kInfo));
  }

  void own_module(const std::string& elf) const { root.put("lib/modules/" + kRelease + "/kernel/lib/crc7.ko", elf); }

  /// Packs this file as the driver's modules. @param notes  more annotations of the modules layer
  void package(const std::string& module, Json notes, const std::string& signer = "") {
    const std::string top = "package-" + std::to_string(++packages);
    const auto& folder = root.folder();
    for (const char* name : {"libcuda.so", "libnvidia-ml.so"}) {
      const std::string lib = top + "/userspace/usr/lib/x86_64-linux-gnu/" + name;
      folder.file(lib + ".535.261.03", "no library");
      folder.link(lib + ".1", std::string(name) + ".535.261.03");
    }
    folder.file(top + "/userspace/usr/bin/nvidia-smi", "no program");
    for (const char* name : {"nvidia", "nvidia-uvm", "nvidia-modeset"})
      folder.file(top + "/modules/kernel/" + name + ".ko", module);
    notes["dev.slipway.layer"] = "modules";
    notes["dev.slipway.driver.modules"] = R"(["nvidia.ko","nvidia-uvm.ko","nvidia-modeset.ko"])";
    notes["dev.slipway.kernel.vermagic"] = kRelease + " SMP preempt mod_unload modversions";
    const Json files{{"libdir", "usr/lib/x86_64-linux-gnu"},
                     {"libraries", {"libcuda.so.1", "libnvidia-ml.so.1"}},
                     {"tools", {"nvidia-smi"}},
                     {"icds", Json::array()}};
    const auto layer = [](const char* name, const Json& annotations) {
      return Json{{"directory", name},
                  {"mediaType", std::string("application/vnd.slipway.driver.") + name + ".v1.tar+zstd"},
                  {"compression", "zstd"},
                  {"annotations", annotations}};
    };
    Json manifest_notes{{"dev.slipway.driver.version", "535.261.03"},
                        {"dev.slipway.driver.flavour", "open"},
                        {"dev.slipway.kernel.release", kRelease}};
    if (!signer.empty()) manifest_notes["dev.slipway.driver.signer"] = signer;
    const Json manifest{
        {"tag", "test"},
        {"annotations", manifest_notes},
        {"layers",
         {layer("userspace", {{"dev.slipway.layer", "userspace"}, {"dev.slipway.driver.files", canonical(files)}}),
          layer("modules", notes)}}};
    folder.file(
        top + "/package.yaml",
        canonical({{"artifactType", "application/vnd.slipway.driver.v1"}, {"tag", "all"}, {"manifests", {manifest}}}));
    const std::string layout = folder.at(top + "-layout").string();
    const Ran built = root.bare({"pkg", "build", folder.at(top).string(), "--to", layout});
    EXPECT_EQ(built.code, 0) << built.out << built.err;
    root.driver("version: \"535.261.03\", modules: open, source: {repository: " + layout + ", trust: unsigned}" + keys);
  }
  void package_with(std::uint32_t module_layout) {
    package(module_elf({{"module_layout", module_layout}}, kInfo),
            {{"dev.slipway.kernel.symbols",
              canonical({{"nvidia.ko", {{"module_layout", base::checksum_text(module_layout)}}}})}});
  }
  void signed_package(const TestSigner& signer, const std::string& name, const std::string& serial) {
    package(signer.sign(module_elf({{"module_layout", kRight}}, kInfo)),
            {{"dev.slipway.kernel.symbols", R"({"nvidia.ko":{"module_layout":"0xbce1a965"}})"},
             {"dev.slipway.driver.signer-key",
              canonical({{"name", name}, {"issuer", "CN=" + name + ",O=Tests"}, {"serial", serial}})}},
            name);
  }
  /// Returns a simulated machine with eight H100 and further files of its kernel.
  std::string machine(const Json& files) const {
    std::ifstream profile(std::string(SLIPWAY_SOURCES) + "/sim/profiles/h100x8.yaml");
    std::ostringstream text;
    text << profile.rdbuf() << "\nfiles: " << canonical(files) << "\n";
    root.folder().file("machine.yaml", text.str());
    return root.folder().at("machine.yaml").string();
  }
  void refused(const Ran& ran, const std::vector<std::string>& says) const {
    expect_refused(root, ran, 1, says, before);
  }

  int packages = 0;
  std::string keys;
  DriverRoot root;
  std::map<std::string, std::string> before;
};

TEST_F(ModuleFits, OfAnotherBuildOfTheKernelAreRefusedByThePlan) {
  package_with(kWrong);
  before = root.tree();
  const std::vector<std::string> says{
      "nvidia.ko was compiled for another build of kernel " + kRelease,
      "checksum 0x12345678 for the symbol module_layout, and this kernel has 0xbce1a965",
      "/kernel/lib/crc7.ko has 0xbce1a965 for module_layout", "slipway driver build --kernel " + kRelease};
  refused(root.run({"plan"}), says);
  refused(root.run({"apply"}), says);
  refused(root.slipway({"plan"}), says);
  refused(root.slipway({"apply"}), says);
}

// The package's description says nothing, or lies: the modules themselves count before anything is switched to them.
TEST_F(ModuleFits, ThatThePackageDescribesOtherwiseAreRefusedByTheApply) {
  for (const Json& notes : {Json(Json::object()),
                            Json{{"dev.slipway.kernel.symbols", R"({"nvidia.ko":{"module_layout":"0xbce1a965"}})"}}}) {
    package(module_elf({{"module_layout", kWrong}}, kInfo), notes);
    const Ran plan = root.slipway({"plan"});
    EXPECT_EQ(plan.code, 2) << plan.out << plan.err;
    if (notes.empty())
      EXPECT_THAT(plan.out, HasSubstr("not checked: symbol checksums for kernel " + kRelease));
    else
      EXPECT_THAT(plan.out, Not(HasSubstr("not checked")));
    for (const Ran& apply : {root.slipway({"apply"}), root.run({"apply"})}) {
      EXPECT_EQ(apply.code, 1) << apply.out << apply.err;
      EXPECT_THAT(apply.out + apply.err,
                  HasSubstr("has checksum 0x12345678 for the symbol module_layout, and this kernel has 0xbce1a965"));
      EXPECT_FALSE(std::filesystem::exists(root.path("usr/lib/slipway/store/driver")));
      EXPECT_FALSE(std::filesystem::exists(root.path("usr/lib/slipway/driver.json")));
    }
  }
}

TEST_F(ModuleFits, AreComparedByEachVerify) {
  package_with(kRight);
  const Ran apply = root.slipway({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"verify"}, {"verify", "--deep"}})
    EXPECT_THAT(root.slipway(words).out, HasSubstr("driver.fits: 3 symbol checksums agree with kernel " + kRelease));
  // The kernel's package was replaced by another build of the same release.
  own_module(module_elf({{"module_layout", kWrong}}, kInfo));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"verify"}, {"verify", "--deep"}}) {
    const Ran verify = root.slipway(words);
    EXPECT_EQ(verify.code, 1) << verify.out;
    EXPECT_THAT(verify.out,
                AllOf(HasSubstr("driver.fits"), HasSubstr("checksum 0xbce1a965 for the symbol module_layout, "
                                                          "and this kernel has 0x12345678")));
  }
}

TEST_F(ModuleFits, CannotBeToldOfAKernelWithoutChecksums) {
  own_module(module_elf({}, kInfo));
  package_with(kWrong);
  const Ran plan = root.slipway({"plan"});
  EXPECT_EQ(plan.code, 2) << plan.out << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("built without CONFIG_MODVERSIONS"));
  EXPECT_EQ(root.slipway({"apply"}).code, 0);
  EXPECT_THAT(root.slipway({"verify"}).out, HasSubstr("driver.fits: not checked: symbol checksums"));
}

TEST_F(ModuleFits, OfAKeyThatTheKernelDoesNotTrustAreRefusedByThePlan) {
  const TestSigner own("Build key", 0x77);
  const TestSigner other("Build key", 0x78);
  own_module(own.sign(module_elf({{"module_layout", kRight}}, kInfo)));
  signed_package(other, "Build key", "78");
  EXPECT_EQ(root.slipway({"plan"}).code, 2) << "signatures are not enforced";
  // A running machine.
  before = root.tree();
  const std::string enforcing = machine({{"/sys/module/module/parameters/sig_enforce", "Y\n"}});
  refused(root.run({"plan"}, enforcing),
          {"(module.sig_enforce is on)", "is signed by Build key (serial 78), which it does not trust",
           "its own modules are signed by Build key (serial 77)"});
  // An image.
  root.put("boot/config-" + kRelease, "CONFIG_MODULE_SIG_FORCE=y\n");
  before = root.tree();
  refused(root.slipway({"plan"}), {"CONFIG_MODULE_SIG_FORCE=y in /boot/config-" + kRelease, "Build key (serial 78)"});
  signed_package(own, "Build key", "77");
  EXPECT_EQ(root.slipway({"apply"}).code, 0);
  EXPECT_THAT(root.slipway({"verify"}).out, HasSubstr("the kernel trusts the signatures"));
}

TEST_F(ModuleFits, OfAKeyThatIsNotKnownAreNotCheckedUnlessTheSpecNamesTheTrustedOnes) {
  const TestSigner own("Build key", 0x77);
  const TestSigner vendor("Vendor", 0x11);
  own_module(own.sign(module_elf({{"module_layout", kRight}}, kInfo)));
  root.put("boot/config-" + kRelease, "CONFIG_MODULE_SIG_FORCE=y\n");
  signed_package(vendor, "Vendor", "11");
  EXPECT_THAT(root.slipway({"plan"}).out,
              HasSubstr("trusts Vendor (serial 11); name its certificate in signing.trusted"));
  root.folder().file("own.der", own.certificate());
  root.folder().file("vendor.der", vendor.certificate());
  keys = ", signing: {trusted: [own.der]}";
  signed_package(vendor, "Vendor", "11");
  before = root.tree();
  refused(root.slipway({"plan"}), {"Vendor (serial 11), which it does not trust"});
  keys = ", signing: {trusted: [vendor.der]}";
  signed_package(vendor, "Vendor", "11");
  EXPECT_THAT(root.slipway({"plan"}).out, Not(HasSubstr("not checked")));
  EXPECT_EQ(root.slipway({"apply"}).code, 0);
  EXPECT_THAT(root.slipway({"verify"}).out, HasSubstr("driver.fits: 3 symbol checksums agree with kernel " + kRelease));
}

}  // namespace
}  // namespace slipway
