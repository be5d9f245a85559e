// SPDX-License-Identifier: Apache-2.0
// Several kernels in one root, through the command line: those that get the driver's modules, and the messages about
// the others.
#include <cstdlib>
#include <memory>

#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using artifact::test::LayoutMaker;
using artifact::test::LayoutRegistry;
using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Packages of 535.261.03 for these two kernels.
const std::string kKernels = SLIPWAY_TEST_KERNELS;
const std::string kOlder = "6.1.0-50-amd64";
const std::string kNewer = "6.1.0-56-amd64";

class DriverKernels : public ::testing::Test {
 protected:
  DriverKernels() {
    add_kernel(kOlder);
    add_kernel(kNewer);
    want("kernels: all");
  }
  void add_kernel(const std::string& release) const {
    root.put("lib/modules/" + release + "/modules.builtin", "");
    root.put("lib/modules/" + release + "/modules.order", "");
  }
  void want(const std::string& keys, const std::string& repository = kKernels) const {
    root.driver((keys.empty() ? "" : keys + ", ") + "version: \"535.261.03\", modules: open, source: {repository: \"" +
                repository + "\", trust: unsigned}");
  }
  bool has_modules(const std::string& release) const {
    return std::filesystem::exists(
               root.path("usr/lib/slipway/store/driver/current/modules/" + release + "/kernel/nvidia.ko")) &&
           std::filesystem::exists(root.path("lib/modules/" + release + "/updates/slipway/nvidia.ko"));
  }
  void expect_done(const Ran& ran) const { EXPECT_EQ(ran.code, 0) << ran.out << ran.err; }

  DriverRoot root;
};

TEST_F(DriverKernels, AllGetModulesAreVerifiedAndThenLeftAlone) {
  const auto before = root.tree();
  expect_done(root.run({"apply"}));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_TRUE(has_modules(kNewer));
  const auto after = root.tree();
  EXPECT_THAT(root.run({"apply"}).out, HasSubstr("Nothing to do"));
  const Ran verify = root.run({"verify", "--deep"});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_EQ(root.tree(), after);
  expect_done(root.run({"remove", "--all"}));
  EXPECT_EQ(root.tree(), before);
}

TEST_F(DriverKernels, WithoutTheKeyMustBeChosen) {
  want("");
  const Ran plan = root.run({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err, HasSubstr("there are several kernels in the root"));
  EXPECT_THAT(plan.out + plan.err, HasSubstr("write kernels: all"));
}

// Before the fix, `--kernel 6.1.0-99-amd64` was advised, for which the source has no package.
TEST_F(DriverKernels, InTheAdviceHaveAPackage) {
  want("");
  add_kernel("6.1.0-99-amd64");
  const Ran plan = root.run({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err,
              AllOf(HasSubstr("choose one that has a package, for example --kernel " + kNewer),
                    HasSubstr("kernels: [" + kNewer + ", " + kOlder + "]"), Not(HasSubstr("--kernel 6.1.0-99"))));
  want("precompiled: never");
  const Ran compiled = root.run({"plan", "--kernel", "6.1.0-99-amd64"});
  EXPECT_THAT(compiled.out + compiled.err, Not(HasSubstr("`slipway apply --kernel"))) << "it would have to be compiled";
}

TEST_F(DriverKernels, WithoutAPackageAreAnErrorOrANote) {
  expect_done(root.run({"apply"}));
  add_kernel("6.1.0-53-amd64");
  const auto before = root.tree();
  expect_refused(root, root.run({"plan"}), 1,
                 {"no driver package fits kernel 6.1.0-53-amd64", kOlder, kNewer, "kernel_without_package: note"},
                 before);
  want("kernels: all, kernel_without_package: note");
  const Ran apply = root.run({"apply"});
  expect_done(apply);
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("kernel 6.1.0-53-amd64 gets no driver modules"));
  EXPECT_THAT(root.run({"apply"}).out, HasSubstr("Nothing to do"));
  EXPECT_TRUE(has_modules(kOlder));
  expect_done(root.run({"verify"}));
  const Ran listed = root.bare({"driver", "kernels", "--root", root.path("").string()});
  EXPECT_THAT(listed.out, HasSubstr("6.1.0-53-amd64  none\n    the source had no package for it\n"));
  EXPECT_THAT(listed.out, HasSubstr("Boots next: 6.1.0-56-amd64"));
}

TEST_F(DriverKernels, ArePinnedByTheLockAndNeedNoNetworkAgain) {
  auto layout = std::make_unique<LayoutMaker>(root.folder().at("served").string());
  ASSERT_EQ(std::system(("cp -rT " + kKernels + " " + layout->path()).c_str()), 0);
  auto registry = std::make_unique<LayoutRegistry>(*layout);
  add_kernel("6.1.0-53-amd64");
  want("kernels: all, kernel_without_package: note", registry->repository());
  const std::string lock = root.folder().at("slipway.lock").string();
  expect_done(root.run({"apply", "--lock", lock}));
  std::ifstream file(lock);
  const Json pinned = Json::parse(file)["components"]["driver"]["source"]["entries"];
  EXPECT_EQ(pinned.size(), 2U);
  registry.reset();
  const Ran again = root.run({"apply", "--lock", lock, "--locked"});
  expect_done(again);
  EXPECT_THAT(again.out, HasSubstr("Nothing to do"));
}

TEST_F(DriverKernels, OfTheCommandLineAreKeptBySavedPlansAndGenerations) {
  want("kernels: newest");
  root.folder().file("plan.json", root.run({"plan", "--kernel", kOlder, "--kernel", kNewer, "-o", "json"}).out);
  const std::string saved = root.folder().at("plan.json").string();
  EXPECT_EQ(root.slipway({"apply", saved, "--kernel", kOlder}).code, 64);
  expect_done(root.slipway({"apply", saved}));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_TRUE(has_modules(kNewer));
  // Applies like slipway-boot.service, without the command line's options.
  const Ran boot = root.run({"apply", "--boot"});
  expect_done(boot);
  EXPECT_THAT(boot.out, HasSubstr("Nothing to do"));
  expect_done(root.run({"apply"}));
  EXPECT_FALSE(has_modules(kOlder)) << "the spec has the newest alone";
  expect_done(root.run({"rollback"}));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_EQ(root.run({"plan", "--kernel", kOlder, "--kernel", kOlder}).code, 64);
}

// Before the fix, the error was "There are several kernels in the root", although the active generation was made for
// one of them.
TEST_F(DriverKernels, OneOfTheCommandLineIsKeptByTheGenerationOfAnImage) {
  want("");
  expect_done(root.run({"apply", "--kernel", kOlder}));
  const Ran plan = root.bare({"plan", "--root", root.path("").string(), "--without-slipway"});
  EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
  EXPECT_THAT(plan.out, HasSubstr(kOlder));
}

// A kernel was added to the image after its apply: before the fix, every command but doctor reported success, and the
// machine booted without a driver.
TEST_F(DriverKernels, OfTheNextBootWithoutModulesFailsVerifyAndIsReportedByStatus) {
  std::filesystem::remove_all(root.path("lib/modules/" + kNewer));
  want("");
  expect_done(root.slipway({"apply"}));
  expect_done(root.slipway({"verify"}));
  EXPECT_THAT(root.slipway({"status"}).out, HasSubstr("Nothing of the last apply is left to do."));
  add_kernel(kNewer);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"verify"}, {"verify", "--deep"}, {"doctor"}, {"verify", "--kernel", kOlder}}) {
    const Ran ran = root.slipway(words);
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("driver.next-boot: the next boot's kernel 6.1.0-56-amd64 has no driver modules"));
  }
  const Ran status = root.slipway({"status"});
  EXPECT_THAT(status.out, HasSubstr("; 6.1.0-56-amd64 boots next\n"));
  EXPECT_THAT(status.out,
              HasSubstr("driver has no modules for kernel 6.1.0-56-amd64, which boots next: `slipway doctor"));
  // The spec has the recommended key.
  want("kernels: all");
  const Ran known = root.slipway({"verify", "-f", root.folder().at("host.yaml").string()});
  EXPECT_THAT(known.out, AllOf(HasSubstr("run `slipway apply"), Not(HasSubstr("write kernels: all"))));
  want("");
  EXPECT_THAT(root.slipway({"status", "--kernel", kOlder}).out,
              HasSubstr("Kernel  6.1.0-50-amd64; 6.1.0-56-amd64 boots"));
  EXPECT_THAT(root.bare({"driver", "kernels", "--root", root.path("").string()}).out,
              HasSubstr("It has no driver modules: `slipway doctor` tells what to do.\n"));
  want("kernels: all");
  expect_done(root.slipway({"apply"}));
  expect_done(root.slipway({"verify"}));
}

// The changes of the apply work: it warns about the next boot, and reverts nothing.
TEST_F(DriverKernels, OfTheNextBootWithoutModulesIsAWarningOfAnApply) {
  want("");
  const Ran apply = root.slipway({"apply", "--kernel", kOlder});
  expect_done(apply);
  EXPECT_THAT(apply.out, HasSubstr("warning  driver.next-boot: the next boot's kernel 6.1.0-56-amd64 has no driver"));
  EXPECT_TRUE(has_modules(kOlder));
}

// Before the fix, --kernel loaded modules for that kernel into the running one, and left no unit for the reboot.
TEST_F(DriverKernels, ThatDoNotRunWaitForAReboot) {
  root.live = true;
  root.put("usr/sbin/depmod", "");
  std::filesystem::permissions(root.path("usr/sbin/depmod"), std::filesystem::perms(0755));
  const auto plan = [&](const std::string& key, const std::vector<std::string>& words) {
    root.folder().file("host.yaml",
                       "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: assume\n"
                       "  components:\n    driver: {" +
                           key + "version: \"535.261.03\", modules: open, source: {repository: \"" + kKernels +
                           "\", trust: unsigned}}\n");
    const Ran ran = root.slipway(words);
    EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("+ reboot into kernel 6.1.0-50-amd64\n"));
    EXPECT_THAT(ran.out, HasSubstr("create /etc/systemd/system/slipway-boot.service"));
    EXPECT_THAT(ran.out, Not(HasSubstr("load 3 modules")));
    return ran.out.substr(ran.out.find("\ndriver: "));
  };
  EXPECT_EQ(plan("", {"plan", "--kernel", kOlder}), plan("kernels: [" + kOlder + "], ", {"plan"}));
}

// Before the fix, the action was kept as recorded if no GPU was seen, but still carried out: exit code 1 each time.
TEST_F(DriverKernels, ThatAreNoLongerWantedWaitForNoReboot) {
  root.live = true;
  root.put("usr/sbin/depmod", "#!/bin/sh\n");
  std::filesystem::permissions(root.path("usr/sbin/depmod"), std::filesystem::perms(0755));
  const auto spec = [&](const std::string& hardware, const std::string& kernel) {
    root.folder().file("host.yaml",
                       "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  on_failed_verify: "
                       "keep\n  hardware: " +
                           hardware + "\n  components:\n    driver: {kernels: [" + kernel +
                           "], version: \"535.261.03\", modules: open, source: {repository: \"" + kKernels +
                           "\", trust: unsigned}}\n");
  };
  spec("assume", kNewer);
  const Ran pending = root.slipway({"apply"});
  EXPECT_EQ(pending.code, 4) << pending.out << pending.err;
  spec("detect", kOlder);
  const Ran plan = root.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("- stop waiting for a reboot")) << plan.err;
  // The running kernel of this machine has no modules either, which is a separate problem.
  EXPECT_THAT(root.slipway({"apply"}).err, Not(HasSubstr("was lost right after it was done")));
  EXPECT_TRUE(has_modules(kOlder));
  EXPECT_THAT(root.text("var/lib/slipway/components/driver.json"), Not(HasSubstr("only_waits")));
  EXPECT_THAT(root.slipway({"plan"}).out, Not(HasSubstr("reboot")));
}

TEST_F(DriverKernels, AreListedWithoutTheControlCharactersOfABootLoadersFile) {
  root.put("boot/loader/loader.conf", "default @\x1b[31mx\n");
  const Ran ran = root.bare({"driver", "kernels", "--root", root.path("").string()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(ran.out, HasSubstr("\\x1b[31mx"));
}

}  // namespace
}  // namespace slipway
