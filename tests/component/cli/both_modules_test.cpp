// SPDX-License-Identifier: Apache-2.0
// One image with both kinds of the driver's modules, booted on simulated machines: each finds those for its GPUs.
#include <cstdlib>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Open and proprietary packages of 535.261.03 for this kernel.
const std::string kBoth = SLIPWAY_TEST_FLAVOURS;
const std::string kOpenAlone = SLIPWAY_TEST_PACKAGE;
const std::string kKernel = "6.1.0-50-amd64";
const std::string kFolder = "lib/modules/" + kKernel + "/updates/slipway";

class BothModules : public ::testing::Test {
 protected:
  BothModules() {
    root.put("lib/modules/" + kKernel + "/modules.builtin", "");
    root.put("lib/modules/" + kKernel + "/modules.order", "");
    want(kBoth);
  }
  void want(const std::string& repository, const std::string& modules = "[open, proprietary]") const {
    root.driver("version: \"535.261.03\", modules: " + modules + ", source: {repository: \"" + repository +
                "\", trust: unsigned}");
  }
  /// Makes the image: no GPU can be seen.
  void make_image() const {
    const Ran image = root.slipway({"apply", "--kernel", kKernel});
    ASSERT_EQ(image.code, 0) << image.out << image.err;
  }
  /// Boots the image on a machine, with the package's source out of reach.
  Ran boot(const std::string& profile) const { return root.run({"apply", "--boot"}, profile); }
  /// Expects that a boot without a GPU plans no module and no node, succeeds, and leaves the image's files alone.
  void expect_idle_boot() const {
    const auto before = root.tree();
    const Ran booted = boot("empty");
    EXPECT_EQ(booted.code, 0) << booted.out << booted.err;
    EXPECT_THAT(booted.out + booted.err, AllOf(Not(HasSubstr("error:")), Not(HasSubstr("load module"))));
    for (const auto& [path, what] : root.tree())
      if (path.starts_with("usr/") || path.starts_with("etc/") || path.starts_with("dev/")) {
        EXPECT_EQ(before.contains(path) ? before.at(path) : "missing", what) << path;
      }
    const Ran verify = root.run({"verify"}, "empty");
    EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  }
  /// Returns the kind of all modules that modprobe finds; "mixed" if they differ.
  std::string used() const {
    std::string kind;
    for (const auto& module : std::filesystem::directory_iterator(root.path(kFolder))) {
      const bool open = root.text(kFolder + "/" + module.path().filename().string()).find("license=Dual MIT/GPL") !=
                        std::string::npos;
      const std::string one = open ? "open" : "proprietary";
      kind = kind.empty() || kind == one ? one : "mixed";
    }
    return kind;
  }

  DriverRoot root;
};

// AKS#5860: the modules of two drivers got mixed in one image. Here each machine has the set for its GPUs, and no
// other.
TEST_F(BothModules, OneImageHasTheRightOnesOnEachMachine) {
  make_image();
  EXPECT_EQ(used(), "open");
  EXPECT_TRUE(std::filesystem::exists(
      root.path("usr/lib/slipway/store/driver/current/modules-proprietary/" + kKernel + "/kernel/nvidia.ko")));
  const std::string modprobe = root.text("etc/modprobe.d/slipway-nvidia.conf");
  EXPECT_THAT(modprobe, AllOf(HasSubstr("\nblacklist nvidia\n"), HasSubstr("\nblacklist nvidia-uvm\n")));
  EXPECT_FALSE(std::filesystem::exists(root.path("etc/modules-load.d/slipway-nvidia.conf")));
  for (const auto& [profile, flavour] :
       {std::pair{"t4x4", "open"}, {"v100x8", "proprietary"}, {"h100x8", "open"}, {"v100x8", "proprietary"}}) {
    SCOPED_TRACE(profile);
    const Ran booted = boot(profile);
    EXPECT_EQ(booted.code, 0) << booted.out << booted.err;
    EXPECT_EQ(used(), flavour);
    EXPECT_THAT(root.text("lib/modules/" + kKernel + "/modules.dep"), HasSubstr("updates/slipway/nvidia.ko"));
    EXPECT_THAT(boot(profile).out, HasSubstr("Nothing to do"));
    const Ran verify = root.run({"verify"}, profile);
    EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
    EXPECT_THAT(verify.out, HasSubstr("8 modules of driver 535.261.03"));
  }
}

TEST_F(BothModules, AMachineWithoutAGpuChangesNothingAndFailsNowhere) {
  make_image();
  expect_idle_boot();
  EXPECT_EQ(used(), "open");
}

// The same for an image with one kind. There systemd-modules-load tries nvidia, which finds no device; systemd does not
// count that as a failure of its unit.
TEST_F(BothModules, AreNotNeededForAMachineWithoutAGpu) {
  want(kOpenAlone, "open");
  make_image();
  expect_idle_boot();
}

TEST_F(BothModules, AreRemovedWithoutATrace) {
  const auto before = root.tree();
  const Ran applied = root.run({"apply"}, "v100x8");
  ASSERT_EQ(applied.code, 0) << applied.out << applied.err;
  EXPECT_EQ(used(), "proprietary");
  const Ran removed = root.run({"remove", "--all"}, "v100x8");
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_EQ(root.tree(), before);
}

TEST_F(BothModules, NeedPackagesOfBothKinds) {
  want(kOpenAlone);
  const Ran plan = root.slipway({"plan", "--kernel", kKernel});
  EXPECT_EQ(plan.code, 1) << plan.out;
  EXPECT_THAT(plan.out + plan.err, HasSubstr("proprietary modules"));
}

// A GPU that is newer than slipway needs a file, not a new image.
TEST_F(BothModules, FollowTheTableOfGpusOfTheRoot) {
  make_image();
  root.put("etc/slipway/gpus.yaml", "version: v1\nchips:\n  1db5: {architecture: turing}\n");
  EXPECT_EQ(boot("v100x8").code, 0);
  EXPECT_EQ(used(), "open");
  root.put("etc/slipway/gpus.yaml", "version: v1\nchips:\n  1db5: {architecture: turin}\n");
  const Ran broken = root.run({"plan"}, "v100x8");
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.out + broken.err,
              AllOf(HasSubstr("unknown architecture 'turin'"), HasSubstr("/etc/slipway/gpus.yaml:3:24"),
                    HasSubstr("did you mean 'turing'?")));
}

TEST_F(BothModules, AreNamedInOneWayOnly) {
  for (const char* wrong : {"[open]", "[open, open]", "both", "[open, auto]"}) {
    want(kBoth, wrong);
    const Ran plan = root.slipway({"plan", "--kernel", kKernel});
    EXPECT_EQ(plan.code, 1) << wrong;
    EXPECT_THAT(plan.out + plan.err,
                AllOf(HasSubstr("does not name kernel modules"), HasSubstr("[open, proprietary] for both")));
  }
}

}  // namespace
}  // namespace slipway
