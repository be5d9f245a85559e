// SPDX-License-Identifier: Apache-2.0
// The boot default while the newest kernel has no modules, through the command line: for systemd-boot and for GRUB with
// entries of the Boot Loader Specification.
#include <memory>

#include "tests/component/cli/driver_root.hpp"
#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::FakeSystemd;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Packages of 535.261.03 for these two kernels.
const std::string kKernels = SLIPWAY_TEST_KERNELS;
const std::string kOlder = "6.1.0-50-amd64";
const std::string kNewer = "6.1.0-56-amd64";

class KeptBootDefault : public ::testing::Test {
 protected:
  KeptBootDefault() {
    std::filesystem::copy(kKernels, layout(), std::filesystem::copy_options::recursive);
    with_package_for_newer(false);
    add_kernel(kOlder);
    spec("");
  }
  std::string layout() const { return root.folder().at("layout").string(); }
  /// The source has a package for the newer kernel only later.
  void with_package_for_newer(bool has) const {
    std::ifstream file(kKernels + "/index.json");
    Json index = Json::parse(file);
    Json& manifests = index["manifests"];
    for (std::size_t i = manifests.size(); !has && i-- > 0;)
      if (manifests[i].dump().find(kNewer) != std::string::npos ||
          manifests[i].dump().find("image.index") != std::string::npos)
        manifests.erase(i);
    root.folder().file("layout/index.json", index.dump());
  }
  void spec(const std::string& on_top) const {
    root.folder().file("host.yaml",
                       "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: assume\n" +
                           on_top + "  components:\n    driver: {kernels: [" + kOlder +
                           "], version: \"535.261.03\", modules: open, source: {repository: \"" + layout() +
                           "\", trust: unsigned}}\n");
  }
  void add_kernel(const std::string& release) const {
    root.put("lib/modules/" + release + "/modules.builtin", "");
    root.put("lib/modules/" + release + "/modules.order", "");
  }
  void entry(const std::string& folder, const std::string& release) const {
    root.put(folder + "/loader/entries/m-" + release + ".conf", "linux /vmlinuz-" + release + "\n");
  }
  Ran installed(const std::string& release) const {
    return root.slipway({"kernel", "installed", release, "--within=60s"});
  }

  DriverRoot root;
};

TEST_F(KeptBootDefault, OfSystemdBootIsInLoaderConfUntilThereAreModulesOrTheDriverGoes) {
  const std::string conf = "efi/loader/loader.conf";
  root.put(conf, "timeout 3\n");
  std::filesystem::permissions(root.path(conf), std::filesystem::perms(0755));  // as FAT has it
  for (const auto& release : {kOlder, kNewer}) entry("efi", release);
  add_kernel(kNewer);
  const auto before = root.tree();
  ASSERT_EQ(root.slipway({"apply"}).code, 0);
  const Ran told = installed(kNewer);
  EXPECT_THAT(told.out, HasSubstr("boot default: it stays on kernel 6.1.0-50-amd64 until there are modules for kernel "
                                  "6.1.0-56-amd64"));
  EXPECT_THAT(root.text(conf), AllOf(HasSubstr("timeout 3\n"), HasSubstr("\ndefault m-6.1.0-50-amd64.conf\n")));
  EXPECT_THAT(root.slipway({"apply"}).out, HasSubstr("Nothing to do"));
  EXPECT_THAT(root.bare({"driver", "kernels", "--root", root.path("").string()}).out,
              HasSubstr("Boots next: 6.1.0-50-amd64 (the default of /efi/loader/loader.conf)"));
  with_package_for_newer(true);
  const Ran scan = root.slipway({"kernel", "scan"});
  EXPECT_EQ(scan.code, 0) << scan.out << scan.err;
  EXPECT_THAT(scan.out, HasSubstr("boot default: no longer kept on kernel 6.1.0-50-amd64"));
  EXPECT_EQ(root.text(conf), "timeout 3\n");
  ASSERT_EQ(root.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(root.tree(), before);
}

TEST_F(KeptBootDefault, OfSystemdBootGoesWithTheDriver) {
  root.put("efi/loader/loader.conf", "timeout 3\n");
  for (const auto& release : {kOlder, kNewer}) entry("efi", release);
  add_kernel(kNewer);
  root.put("etc/dnf/dnf.conf", "[main]\n");
  const auto before = root.tree();
  ASSERT_EQ(root.slipway({"apply"}).code, 0);
  installed(kNewer);
  EXPECT_THAT(root.text("etc/dnf/protected.d/slipway.conf"), HasSubstr("\nkernel-core\n"));
  ASSERT_EQ(root.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(root.tree(), before);
}

TEST_F(KeptBootDefault, ThatTheAdministratorChoseStaysAndIsNamed) {
  root.put("efi/loader/loader.conf", "default windows.conf\n");
  for (const auto& release : {kOlder, kNewer}) entry("efi", release);
  add_kernel(kNewer);
  ASSERT_EQ(root.slipway({"apply"}).code, 0);
  EXPECT_THAT(installed(kNewer).out,
              HasSubstr("default windows.conf in /efi/loader/loader.conf is the administrator's choice, and stays"));
  EXPECT_EQ(root.text("efi/loader/loader.conf"), "default windows.conf\n");
}

TEST_F(KeptBootDefault, OfABootLoaderThatIsNotKnownIsLeftToTheUser) {
  add_kernel(kNewer);
  ASSERT_EQ(root.slipway({"apply"}).code, 0);
  EXPECT_THAT(installed(kNewer).out, HasSubstr("slipway does not know this boot loader; choose kernel 6.1.0-50-amd64"));
}

/// A running machine of Enterprise Linux, with programs that are scripts.
class KeptSavedEntry : public KeptBootDefault {
 protected:
  void SetUp() override {
    if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
    systemd = std::make_unique<FakeSystemd>(root);
    for (const char* name : {"ldconfig", "depmod"}) program(name, "exit 0");
    program("grub2-editenv", "case $2 in set) echo \"$3\" > \"$1\" ;; unset) : > \"$1\" ;; esac");
    program("grep", "while read -r line; do [ \"$line\" = \"$2\" ] && exit 0; done < \"$3\"\nexit 1");
    for (const auto& release : {kOlder, kNewer}) entry("boot", release);
    saved(kNewer);  // as the package of the newer kernel does
    root.put("usr/lib/systemd/systemd", "");
    root.put("usr/bin/kernel-install", "");
    spec("  on_failed_verify: keep\n");
    const Ran ran = root.slipway({"apply"});
    ASSERT_EQ(ran.code, 4) << ran.out << ran.err;
    add_kernel(kNewer);
  }
  void program(const std::string& name, const std::string& script) const {
    root.put("usr/bin/" + name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(root.path("usr/bin/" + name), std::filesystem::perms(0755));
  }
  void saved(const std::string& release) const { root.put(kEnvironment, line(release)); }
  static std::string line(const std::string& release) { return "saved_entry=m-" + release + "\n"; }

  const std::string kEnvironment = "boot/grub2/grubenv";
  std::unique_ptr<FakeSystemd> systemd;
};

TEST_F(KeptSavedEntry, IsSetAndGivenBackWhenThereAreModules) {
  EXPECT_THAT(installed(kNewer).out, HasSubstr("boot default: it stays on kernel 6.1.0-50-amd64"));
  EXPECT_EQ(root.text(kEnvironment), line(kOlder));
  EXPECT_THAT(root.text("etc/systemd/system/slipway-kernel-scan.timer"), HasSubstr("RandomizedDelaySec="));
  const Ran again = root.slipway({"apply"});
  EXPECT_EQ(root.text(kEnvironment), line(kOlder)) << again.out;
  with_package_for_newer(true);
  const Ran scan = root.slipway({"kernel", "scan"});
  EXPECT_THAT(scan.out, HasSubstr("boot default: no longer kept on kernel 6.1.0-50-amd64")) << scan.err;
  EXPECT_EQ(root.text(kEnvironment), line(kNewer));
  EXPECT_FALSE(std::filesystem::exists(root.path("etc/systemd/system/slipway-kernel-scan.timer")));
}

TEST_F(KeptSavedEntry, IsGivenBackWithTheDriverUnlessItWasChangedSince) {
  installed(kNewer);
  ASSERT_EQ(root.text(kEnvironment), line(kOlder));
  ASSERT_EQ(root.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(root.text(kEnvironment), line(kNewer));
}

TEST_F(KeptSavedEntry, ThatTheAdministratorChangesStays) {
  installed(kNewer);
  root.put(kEnvironment, line("windows"));
  const Ran again = root.slipway({"kernel", "scan"});
  EXPECT_THAT(again.out, HasSubstr("saved_entry=m-windows in /boot/grub2/grubenv is the administrator's choice"));
  EXPECT_EQ(root.text(kEnvironment), line("windows"));
  ASSERT_EQ(root.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(root.text(kEnvironment), line("windows"));
}

}  // namespace
}  // namespace slipway
