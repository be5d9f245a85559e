// SPDX-License-Identifier: Apache-2.0
// Kernels that are installed and removed after the driver, through the command line: `slipway kernel`, as package
// managers' hooks run it.
#include <csignal>
#include <memory>
#include <regex>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "tests/component/cli/driver_root.hpp"
#include "tests/component/engine/fake_systemd.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::FakeSystemd;
using slipway::testing::Ran;
using slipway::testing::TempDir;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Packages of 535.261.03 for these two kernels.
const std::string kKernels = SLIPWAY_TEST_KERNELS;
const std::string kOlder = "6.1.0-50-amd64";
const std::string kNewer = "6.1.0-56-amd64";
const std::string kBare = "6.1.0-99-amd64";  // there is no package for it

class KernelChange : public ::testing::Test {
 protected:
  KernelChange() {
    add_kernel(kOlder);
    want("");
  }
  void add_kernel(const std::string& release) const {
    root.put("lib/modules/" + release + "/modules.builtin", "");
    root.put("lib/modules/" + release + "/modules.order", "");
  }
  /// As a package manager does, which knows nothing of files that it did not install.
  void remove_kernel(const std::string& release) const {
    std::filesystem::remove(root.path("lib/modules/" + release + "/modules.builtin"));
    std::filesystem::remove(root.path("lib/modules/" + release + "/modules.order"));
  }
  void want(const std::string& keys) const {
    root.driver((keys.empty() ? "" : keys + ", ") + "version: \"535.261.03\", modules: open, source: {repository: \"" +
                kKernels + "\", trust: unsigned}");
  }
  void apply(const std::vector<std::string>& words = {"apply"}) const {
    const Ran ran = root.slipway(words);
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  Ran installed(const std::string& release, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"kernel", "installed", release};
    words.insert(words.end(), more.begin(), more.end());
    return root.slipway(words);
  }
  Ran removed(const std::string& release) const { return root.slipway({"kernel", "removed", release}); }
  bool has_modules(const std::string& release) const {
    return std::filesystem::exists(
               root.path("usr/lib/slipway/store/driver/current/modules/" + release + "/kernel/nvidia.ko")) &&
           std::filesystem::exists(root.path("lib/modules/" + release + "/updates/slipway/nvidia.ko"));
  }

  DriverRoot root;
};

TEST_F(KernelChange, InstalledAddsTheModulesOfThatKernelAlone) {
  apply();
  add_kernel(kNewer);
  const Ran ran = installed(kNewer);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("slipway: driver is ready for kernel 6.1.0-56-amd64\n"));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_TRUE(has_modules(kNewer));
  const auto after = root.tree();
  EXPECT_EQ(installed(kNewer).code, 0);
  EXPECT_EQ(root.tree(), after);
  EXPECT_EQ(root.slipway({"verify"}).code, 0);
}

TEST_F(KernelChange, InstalledIsKeptByTheNextApplyOfTheSpecAndByABoot) {
  apply();
  add_kernel(kNewer);
  ASSERT_EQ(installed(kNewer).code, 0);
  const Ran again = root.slipway({"apply"});
  EXPECT_THAT(again.out, HasSubstr("Nothing to do")) << again.err;
  EXPECT_TRUE(has_modules(kNewer));
  const Ran boot = root.slipway({"apply", "--boot"});
  EXPECT_EQ(boot.code, 0) << boot.out << boot.err;
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_TRUE(has_modules(kNewer));
}

TEST_F(KernelChange, InstalledBesideAKernelOfTheCommandLineIsInTheGeneration) {
  apply({"apply", "--kernel", kOlder});
  add_kernel(kNewer);
  ASSERT_EQ(installed(kNewer).code, 0);
  const Ran boot = root.slipway({"apply", "--boot"});
  EXPECT_THAT(boot.out, HasSubstr("Nothing to do")) << boot.err;
  EXPECT_TRUE(has_modules(kNewer));
}

// Without this the driver of a `version: latest` would be exchanged while a package manager runs.
TEST_F(KernelChange, InstalledTakesTheVersionThatIsInstalledAlthoughTheSourceHasANewerOne) {
  root.driver("version: latest, modules: open, source: {repository: \"" + std::string(SLIPWAY_TEST_VERSIONS) +
              "\", trust: unsigned}");
  apply({"apply", "--kernel", kOlder});
  const std::string before = root.text("usr/lib/slipway/driver.json");
  EXPECT_THAT(before, HasSubstr("550.163.01"));
  add_kernel("6.1.0-53-amd64");  // 580.82.07 has modules for it
  const Ran ran = installed("6.1.0-53-amd64");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("kernel 6.1.0-53-amd64 has no modules of driver"), HasSubstr(kOlder)));
  EXPECT_THAT(root.text("usr/lib/slipway/driver.json"), HasSubstr("550.163.01"));
}

TEST_F(KernelChange, InstalledWithoutAPackageSaysSoWithTheNearestKernelsAndIsRecorded) {
  apply();
  add_kernel(kBare);
  const Ran ran = installed(kBare);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("kernel 6.1.0-99-amd64 has no modules of driver"),
                             HasSubstr("no driver package fits kernel 6.1.0-99-amd64"), HasSubstr(kNewer),
                             HasSubstr("`slipway kernel installed 6.1.0-99-amd64` tries again")));
  EXPECT_THAT(ran.out, Not(HasSubstr("kernel_without_package"))) << "that is about plans";
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_THAT(root.bare({"driver", "kernels", "--root", root.path("").string()}).out,
              HasSubstr("6.1.0-99-amd64  none             next\n    the source had no package for it\n"));
  EXPECT_THAT(root.slipway({"status"}).out, HasSubstr("driver has no modules for kernel 6.1.0-99-amd64"));
  const Ran again = root.slipway({"apply"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(has_modules(kOlder));
}

TEST_F(KernelChange, InstalledIsNoFailureOfTheHookUnlessThePolicyAsksForThat) {
  apply();
  add_kernel(kBare);
  const Ran ran = installed(kBare, {"--within=60s"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("kernel 6.1.0-99-amd64 has no modules of driver"));
  want("new_kernel: {without_modules: fail}");
  apply();
  EXPECT_EQ(installed(kBare, {"--within=60s"}).code, 1);
}

// Without this dpkg would fail in a chroot without /proc, where slipway does not find its other programs.
TEST_F(KernelChange, InstalledIsNoFailureOfTheHookWhereAPartOfSlipwayCannotBeStarted) {
  root.put("usr/bin/dpkg", "");
  apply();
  const TempDir& folder = root.folder();
  folder.file("alone/slipway-engine", "");  // execve(2): ENOEXEC
  std::filesystem::permissions(folder.at("alone/slipway-engine"), std::filesystem::perms(0755));
  const std::string program = folder.at("alone/slipway").string();
  std::filesystem::copy_file(SLIPWAY_PROGRAM, program);
  root.program = "/bin/sh";
  for (const std::string event : {"postinst.d", "header_postinst.d", "postrm.d"}) {
    const std::string hook = root.text("etc/kernel/" + event + "/00-slipway");
    folder.file("hook", std::regex_replace(hook, std::regex("/usr/bin/slipway"), program));
    const Ran ran = root.bare({folder.at("hook").string(), kNewer});
    EXPECT_EQ(ran.code, 0) << event;
    EXPECT_THAT(ran.out + ran.err, HasSubstr("slipway-engine")) << event;
  }
}

TEST_F(KernelChange, RemovedTakesItsModulesAndTheIndexesOfDepmodAway) {
  const auto before_all = root.tree();
  apply();
  add_kernel(kNewer);
  ASSERT_EQ(installed(kNewer).code, 0);
  EXPECT_EQ(removed(kNewer).code, 0);
  EXPECT_TRUE(has_modules(kNewer)) << "it is still installed";
  remove_kernel(kNewer);
  root.put("lib/modules/" + kNewer + "/modules.dep", "");
  const Ran ran = removed(kNewer);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the files for kernel 6.1.0-56-amd64 are removed"));
  EXPECT_FALSE(std::filesystem::exists(root.path("lib/modules/" + kNewer)));
  EXPECT_FALSE(std::filesystem::exists(root.path("usr/lib/slipway/store/driver/current/modules/" + kNewer)));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_THAT(root.slipway({"apply"}).out, HasSubstr("Nothing to do"));
  apply({"remove", "--all"});
  EXPECT_EQ(root.tree(), before_all);
}

TEST_F(KernelChange, ScanPreparesEachKernelThatHasNoModulesYet) {
  apply();
  add_kernel(kNewer);
  add_kernel(kBare);
  const Ran ran = root.slipway({"kernel", "scan"});
  EXPECT_EQ(ran.code, 1) << "one has no package";
  EXPECT_THAT(ran.out, AllOf(HasSubstr("driver is ready for kernel 6.1.0-56-amd64"),
                             HasSubstr("driver was ready for kernel 6.1.0-50-amd64 before"),
                             HasSubstr("kernel 6.1.0-99-amd64 has no modules of driver")));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_TRUE(has_modules(kNewer));
}

TEST_F(KernelChange, RemovedOfTheOnlyKernelWithModulesIsRefusedInWords) {
  apply();
  remove_kernel(kOlder);
  const Ran ran = removed(kOlder);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("kernel 6.1.0-50-amd64 is the only one with modules"));
}

TEST_F(KernelChange, OfARootWithoutSlipwaysWorkIsNoFailureOfTheHook) {
  add_kernel(kNewer);
  const auto before = root.tree();
  EXPECT_EQ(installed(kNewer, {"--within=60s"}).code, 0);
  EXPECT_EQ(installed(kNewer).code, 1);
  EXPECT_EQ(root.slipway({"kernel", "installed", "../x"}).code, 64);
  EXPECT_EQ(root.tree(), before);
}

TEST_F(KernelChange, HooksOfDebianAreItemsOfThePlanAndGoWithTheDriver) {
  root.put("usr/bin/dpkg", "");
  root.put("usr/lib/systemd/systemd", "");
  const auto before = root.tree();
  apply();
  for (const std::string event : {"postinst.d", "header_postinst.d"})
    EXPECT_THAT(root.text("etc/kernel/" + event + "/00-slipway"),
                HasSubstr("'/usr/bin/slipway' kernel installed \"$1\" --within=60s >&2\n"));
  EXPECT_THAT(root.text("etc/kernel/postrm.d/00-slipway"), HasSubstr("kernel removed \"$1\" --within=60s"));
  EXPECT_THAT(root.text("etc/systemd/system/slipway-kernel@.service"),
              HasSubstr("ExecStart=/usr/bin/slipway kernel installed %i\n"));
  apply({"remove", "--all"});
  EXPECT_EQ(root.tree(), before);
}

TEST_F(KernelChange, ThePluginOfKernelInstallIsAnItemOfThePlan) {
  root.put("usr/bin/kernel-install", "");
  apply();
  EXPECT_THAT(root.text("etc/kernel/install.d/40-slipway.install"), HasSubstr("add) verb=installed ;;"));
  EXPECT_FALSE(std::filesystem::exists(root.path("etc/kernel/postinst.d")));
}

/// A running machine, whose kernel is another one than those of its driver: nothing is loaded.
class KernelChangeLive : public KernelChange {
 protected:
  void SetUp() override {
    if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
    systemd = std::make_unique<FakeSystemd>(root);
    put_program("ldconfig", "exit 0");
    depmod("exit 0");
    root.folder().file("host.yaml",
                       "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: assume\n"
                       "  on_failed_verify: keep\n  components:\n    driver: {kernels: [" +
                           kOlder + "], version: \"535.261.03\", modules: open, source: {repository: \"" + kKernels +
                           "\", trust: unsigned}}\n");
    const Ran ran = root.slipway({"apply"});
    ASSERT_EQ(ran.code, 4) << ran.out << ran.err;
  }
  void put_program(const std::string& name, const std::string& script) const {
    root.put("usr/sbin/" + name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(root.path("usr/sbin/" + name), std::filesystem::perms(0755));
  }
  void depmod(const std::string& script) const { put_program("depmod", script); }

  std::unique_ptr<FakeSystemd> systemd;
};

TEST_F(KernelChangeLive, InstalledIsLeftToTheUnitWhileAnotherSlipwayIsAtWork) {
  add_kernel(kNewer);
  const int taken = ::open(root.path("var/lib/slipway").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(taken, LOCK_EX | LOCK_NB), 0);
  const Ran ran = installed(kNewer, {"--within=60s"});
  ::close(taken);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("another slipway is at work: slipway-kernel@6.1.0-56-amd64.service continues the work"));
  EXPECT_THAT(systemd->told(), HasSubstr("start slipway-kernel@6.1.0-56-amd64.service\n"));
  EXPECT_FALSE(has_modules(kNewer));
  EXPECT_EQ(installed(kNewer).code, 0) << "as the unit runs it";
  EXPECT_TRUE(has_modules(kNewer));
}

TEST_F(KernelChangeLive, InstalledIsLeftToTheUnitWhenItTakesTooLong) {
  add_kernel(kNewer);
  depmod("i=0; while [ $i -lt 6000000 ]; do i=$((i + 1)); done");  // several seconds on any machine
  const Ran ran = installed(kNewer, {"--within=1s"});
  EXPECT_THAT(systemd->told(), HasSubstr("start slipway-kernel@6.1.0-56-amd64.service\n")) << ran.out << ran.err;
  EXPECT_THAT(ran.code, AnyOf(0, 128 + SIGTERM)) << ran.out << ran.err;  // the latter: it did not stop in time
  EXPECT_THAT(ran.out,
              HasSubstr("this takes longer than 1 s: slipway-kernel@6.1.0-56-amd64.service continues the work"));
  depmod("exit 0");
  EXPECT_EQ(installed(kNewer).code, 0);
  EXPECT_TRUE(has_modules(kNewer));
}

TEST_F(KernelChangeLive, WithoutModulesIsANoticeForUsersWhoLogInUntilThereAreSome) {
  root.folder().directory("root/etc/update-motd.d");
  add_kernel(kBare);
  EXPECT_EQ(installed(kBare, {"--within=60s"}).code, 0);
  EXPECT_THAT(root.text("run/motd.d/slipway-kernel-" + kBare),
              HasSubstr("slipway: kernel 6.1.0-99-amd64 has no modules of driver"));
  remove_kernel(kBare);
  EXPECT_EQ(removed(kBare).code, 0);
  EXPECT_FALSE(std::filesystem::exists(root.path("run/motd.d/slipway-kernel-" + kBare)));
}

}  // namespace
}  // namespace slipway
