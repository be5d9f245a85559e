// SPDX-License-Identifier: Apache-2.0
// A kernel that is installed or removed after the driver: the kernels of the plan, the hooks, and the boot default.
#include <gmock/gmock.h>

#include "driver/boot/boot_default.hpp"
#include "driver/component/driver.hpp"
#include "driver/detect/receipt.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::kKernel;
using ::testing::Not;
using testing::summary;
using testing::TestHost;
using testing::TestPackage;

using Kind = KernelChange::Kind;

const std::string kNewerKernel = "6.1.0-56-amd64";

/// As grub-mkconfig writes it.
const std::string kGrubMenu =
    "set default=\"0\"\n"
    "menuentry 'Debian' --class debian $menuentry_id_option 'gnulinux-simple-u' {\n"
    "\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 root=UUID=u ro\n}\n"
    "submenu 'Advanced options for Debian' $menuentry_id_option 'gnulinux-advanced-u' {\n"
    "\tmenuentry 'Debian, with Linux 6.1.0-56-amd64' $menuentry_id_option 'gnulinux-6.1.0-56-amd64-advanced-u' {\n"
    "\t\tlinux\t/boot/vmlinuz-6.1.0-56-amd64 root=UUID=u ro\n\t}\n"
    "\tmenuentry 'Debian, with Linux 6.1.0-50-amd64' $menuentry_id_option 'gnulinux-6.1.0-50-amd64-advanced-u' {\n"
    "\t\tlinux\t/boot/vmlinuz-6.1.0-50-amd64 root=UUID=u ro\n\t}\n}\n";

class PlanKernelChange : public ::testing::Test {
 protected:
  void add_kernel(const std::string& release) const {
    host.root().file("/usr/lib/modules/" + release + "/modules.builtin", "");
  }
  std::unique_ptr<Host> on(std::optional<KernelChange> change = {}, const std::vector<std::string>& asked = {}) const {
    HostConfig config{.root = host.root().string(), .hardware = "assume", .kernel_change = std::move(change)};
    if (!asked.empty()) config.kernel = asked.front();
    if (!asked.empty()) config.further_kernels.assign(asked.begin() + 1, asked.end());
    return std::move(*open_host(host_config_from_json(to_json(config))));
  }
  Result<Plan> of(const Host& machine) const {
    Json section{{"version", version},
                 {"source", {{"repository", testing::kRepository}}},
                 {"modules", "auto"},
                 {"precompiled", "prefer"},
                 {"load", {"nvidia"}},
                 {"blacklist_nouveau", true},
                 {"libdir", "none"},
                 {"existing", "refuse"},
                 {"kernel_without_package", "error"},
                 {"new_kernel", {{"without_modules", policy}}}};
    const Spec spec{section};
    const Driver driver;
    SLIPWAY_TRY(facts, driver.detect(spec, machine));
    SLIPWAY_TRY(back, facts_from_json(slipway::to_json(facts)));
    Json target{{"kernel_release", ""}, {"kernel_problem", {{"code", "conflict"}, {"what", "there are several"}}}};
    if (const auto release = machine.kernel_release())
      target = {{"kernel_release", *release}, {"kernel_problem", nullptr}};
    target.update({{"live", machine.live()}, {"arch", "x86_64"}, {"hardware", "assume"}});
    return driver.plan(spec, back,
                       Inputs{{{"target", target},
                               {"outputs", Json::object()},
                               {"catalogues", {{"source", testing::to_json(testing::catalogue(packages, true))}}}}});
  }
  /// Plans, and writes the receipt and GRUB's settings into the root, as an apply does.
  Plan apply(const std::unique_ptr<Host>& host_now) const {
    auto plan = of(*host_now);
    EXPECT_TRUE(plan) << to_text(plan.error());
    if (!plan) return {};
    host.root().file(kGrubFile, "");
    for (const auto& action : plan->actions())
      if (action.target() == kReceiptPath || action.target() == kGrubFile)
        host.root().file(action.target(), action.text("content"));
    return *plan;
  }
  std::string kernels() const {
    const auto receipt = read_receipt(*on());
    return receipt ? receipt->kernels_text() : "";
  }

  TestHost host;
  std::string version = "535.261.03";
  std::string policy = "hold";
  std::vector<TestPackage> packages{{.kernel = kKernel}, {.kernel = kNewerKernel}};
};

TEST_F(PlanKernelChange, AddsTheKernelToThoseThatHaveModules) {
  apply(on());
  add_kernel(kNewerKernel);
  const Plan plan = apply(on(KernelChange{kNewerKernel, Kind::installed}));
  EXPECT_EQ(kernels(), "kernels 6.1.0-56-amd64 and 6.1.0-50-amd64");
  EXPECT_EQ(to_json(apply(on(KernelChange{kNewerKernel, Kind::installed}))), to_json(plan)) << "again, it is the same";
  EXPECT_EQ(to_json(apply(on()))["actions"], to_json(plan)["actions"]) << "and so it is for the spec alone";
}

TEST_F(PlanKernelChange, IsForgottenWithAKernelThatTheCommandLineLeavesOut) {
  apply(on());
  add_kernel(kNewerKernel);
  apply(on(KernelChange{kNewerKernel, Kind::installed}));
  apply(on({}, {kKernel}));
  EXPECT_EQ(kernels(), "kernel 6.1.0-50-amd64");
}

// Without this a package manager's run would change the driver under running programs.
TEST_F(PlanKernelChange, KeepsTheVersionAndFlavourThatAreInstalled) {
  version = "latest";
  apply(on());
  packages = {{.kernel = kKernel, .version = "550.163.01"}, {.kernel = kNewerKernel, .version = "550.163.01"}};
  add_kernel(kNewerKernel);
  const auto refused = of(*on(KernelChange{kNewerKernel, Kind::installed}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_text(refused.error()), HasSubstr("535.261.03"));
}

// A module that an administrator has unloaded is not loaded by a package manager.
TEST_F(PlanKernelChange, LeavesTheLoadedDriverAndItsNodesAsTheyAre) {
  host.gpu("0000:1b:00.0", 0x2330);
  host.view().file("/proc/sys/kernel/osrelease", std::string(kKernel) + "\n");
  const auto live = [&](std::optional<KernelChange> change) {
    return std::move(*open_host({.root = host.root().string(),
                                 .live = true,
                                 .kernel_view = host.view().string(),
                                 .kernel_change = std::move(change)}));
  };
  const Plan before = apply(live({}));
  add_kernel(kNewerKernel);
  const Plan plan = apply(live(KernelChange{kNewerKernel, Kind::installed}));
  EXPECT_EQ(kernels(), "kernels 6.1.0-56-amd64 and 6.1.0-50-amd64");
  int recorded = 0;
  for (const auto& action : plan.actions()) {
    const bool is_running = action.kind() == "kernel-module" || action.kind() == "device-node";
    EXPECT_EQ(action.json().value("as_recorded", false), is_running) << action.kind();
    recorded += is_running ? 1 : 0;
  }
  EXPECT_GT(recorded, 1);
  EXPECT_EQ(plan.actions().size(), before.actions().size() + 1) << "the link to the new modules";
}

TEST_F(PlanKernelChange, WithoutModulesLeavesTheOthersAndIsTriedByNoLaterPlan) {
  apply(on());
  add_kernel("6.1.0-99-amd64");
  const auto refused = of(*on(KernelChange{"6.1.0-99-amd64", Kind::installed}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_text(refused.error()), AllOf(HasSubstr("6.1.0-56-amd64"), Not(HasSubstr("kernel_without_package"))));
  apply(on(KernelChange{"6.1.0-99-amd64", Kind::without_modules}));
  EXPECT_EQ(kernels(), "kernel 6.1.0-50-amd64");
  EXPECT_EQ(read_receipt(*on())->without, std::vector<std::string>{"6.1.0-99-amd64"});
  apply(on());
  EXPECT_EQ(kernels(), "kernel 6.1.0-50-amd64");
  packages.push_back({.kernel = "6.1.0-99-amd64"});
  apply(on(KernelChange{"6.1.0-99-amd64", Kind::installed}));
  EXPECT_EQ(kernels(), "kernels 6.1.0-99-amd64 and 6.1.0-50-amd64");
  EXPECT_TRUE(read_receipt(*on())->without.empty());
}

TEST_F(PlanKernelChange, RemovedTakesThatKernelAwayButNotTheLastOne) {
  apply(on());
  add_kernel(kNewerKernel);
  apply(on(KernelChange{kNewerKernel, Kind::installed}));
  apply(on(KernelChange{kKernel, Kind::removed}));
  EXPECT_EQ(kernels(), "kernel 6.1.0-56-amd64");
  const auto refused = of(*on(KernelChange{kNewerKernel, Kind::removed}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("is the only one with modules"));
}

TEST_F(PlanKernelChange, HoldKeepsTheBootDefaultAndReleasesIt) {
  host.root().file("/boot/grub/grub.cfg", kGrubMenu);
  host.root().file("/usr/sbin/update-grub", "");
  host.root().file("/etc/apt/sources.list", "");
  host.root().file("/etc/default/grub", "GRUB_DEFAULT=0\nGRUB_TIMEOUT=5\n");
  packages.pop_back();
  apply(on());
  add_kernel(kNewerKernel);
  const Plan kept_plan = apply(on(KernelChange{kNewerKernel, Kind::without_modules}));
  EXPECT_THAT(kept_plan.notes(), Contains("boot default: it stays on kernel 6.1.0-50-amd64 until there are modules for "
                                          "kernel 6.1.0-56-amd64"));
  const std::string text = to_json(kept_plan).dump();
  EXPECT_THAT(text, HasSubstr("GRUB_DEFAULT=\\\"gnulinux-advanced-u>gnulinux-6.1.0-50-amd64-advanced-u\\\""));
  EXPECT_THAT(text, HasSubstr("-6\\\\\\\\.1\\\\\\\\.0-50-amd64$"));
  EXPECT_EQ(to_json(apply(on()))["actions"], to_json(kept_plan)["actions"]) << "each later apply keeps it";
  packages.push_back({.kernel = kNewerKernel});
  const Plan released = apply(on(KernelChange{kNewerKernel, Kind::installed}));
  EXPECT_THAT(released.notes(), Contains("boot default: no longer kept on kernel 6.1.0-50-amd64"));
  EXPECT_THAT(to_json(released).dump(), AllOf(Not(HasSubstr(kGrubFile)), Not(HasSubstr("NeverAutoRemove"))));
}

TEST_F(PlanKernelChange, HoldLeavesTheAdministratorsChoice) {
  host.root().file("/boot/grub/grub.cfg", kGrubMenu);
  host.root().file("/usr/sbin/update-grub", "");
  host.root().file("/etc/default/grub", "GRUB_DEFAULT=\"saved\"\n");
  apply(on());
  add_kernel(kNewerKernel);
  const Plan plan = apply(on(KernelChange{kNewerKernel, Kind::without_modules}));
  EXPECT_THAT(plan.notes(), Contains(HasSubstr("GRUB_DEFAULT=saved in /etc/default/grub is the administrator's")));
  EXPECT_THAT(to_json(plan).dump(), Not(HasSubstr(kGrubFile)));
}

TEST_F(PlanKernelChange, WarnHoldsNothing) {
  host.root().file("/boot/grub/grub.cfg", kGrubMenu);
  host.root().file("/usr/sbin/update-grub", "");
  policy = "warn";
  apply(on());
  add_kernel(kNewerKernel);
  EXPECT_THAT(to_json(apply(on(KernelChange{kNewerKernel, Kind::without_modules}))).dump(),
              AllOf(Not(HasSubstr(kGrubFile)), Not(HasSubstr("boot default"))));
}

TEST_F(PlanKernelChange, HooksAreThoseOfThePackageManager) {
  EXPECT_THAT(summary(apply(on())), Not(HasSubstr("/etc/kernel")));
  host.root().file("/usr/lib/systemd/systemd", "");
  EXPECT_THAT(summary(apply(on())), HasSubstr("slipway-kernel-scan.path"));
  host.root().file("/usr/bin/kernel-install", "");
  EXPECT_THAT(summary(apply(on())), AllOf(HasSubstr("/etc/kernel/install.d/40-slipway.install"),
                                          HasSubstr("/etc/systemd/system/slipway-kernel@.service")));
  host.root().file("/usr/bin/dpkg", "");
  EXPECT_THAT(summary(apply(on())),
              AllOf(HasSubstr("/etc/kernel/postinst.d/00-slipway"), HasSubstr("/etc/kernel/postrm.d/00-slipway"),
                    HasSubstr("/etc/kernel/header_postinst.d/00-slipway"), Not(HasSubstr("install.d")),
                    Not(HasSubstr(".path"))));
}

TEST_F(PlanKernelChange, ATimerAsksAgainWhileAKernelHasNoModules) {
  host.root().file("/usr/lib/systemd/systemd", "");
  host.root().file("/usr/bin/dpkg", "");
  EXPECT_THAT(summary(apply(on())), Not(HasSubstr(".timer")));
  add_kernel("6.1.0-99-amd64");
  EXPECT_THAT(summary(apply(on(KernelChange{"6.1.0-99-amd64", Kind::without_modules}))),
              HasSubstr("slipway-kernel-scan.timer"));
}

}  // namespace
}  // namespace slipway::driver
