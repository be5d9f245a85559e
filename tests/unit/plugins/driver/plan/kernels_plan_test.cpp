// SPDX-License-Identifier: Apache-2.0
// Several kernels of one root: those that get modules, and the message about one without modules.
#include <gmock/gmock.h>

#include "driver/component/driver.hpp"
#include "driver/detect/receipt.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::kKernel;
using ::testing::Not;
using testing::summary;
using testing::TestHost;
using testing::TestPackage;
using testing::TestTarget;

const std::string kOther = "6.1.0-56-amd64";

class PlanKernels : public ::testing::Test {
 protected:
  PlanKernels() { add_kernel(kOther); }

  void add_kernel(const std::string& release) {
    host.root().file("/usr/lib/modules/" + release + "/modules.builtin", "");
  }
  std::unique_ptr<Host> offline(const std::vector<std::string>& asked = {}) const {
    HostConfig config{.root = host.root().string(), .hardware = "assume"};
    if (!asked.empty()) config.kernel = asked.front();
    if (!asked.empty()) config.further_kernels.assign(asked.begin() + 1, asked.end());
    return std::move(*open_host(config));
  }
  std::unique_ptr<Host> live_for(const std::string& asked) const {
    return std::move(
        *open_host({.root = host.root().string(), .live = true, .kernel_view = host.view().string(), .kernel = asked}));
  }
  Json section() const {
    Json json{{"version", "535.261.03"},
              {"source", {{"repository", testing::kRepository}}},
              {"modules", modules},
              {"precompiled", "prefer"},
              {"load", {"nvidia"}},
              {"blacklist_nouveau", true},
              {"libdir", "none"},
              {"existing", "refuse"},
              {"kernel_without_package", without_package}};
    if (!kernels.is_null()) json["kernels"] = kernels;
    return json;
  }
  Result<Plan> of(const Host& on) const {
    const Spec spec{section()};
    const Driver driver;
    SLIPWAY_TRY(facts, driver.detect(spec, on));
    SLIPWAY_TRY(back, facts_from_json(slipway::to_json(facts)));
    // The core does this when it cannot determine one kernel.
    Json target{{"kernel_release", ""}, {"kernel_problem", {{"code", "conflict"}, {"what", "there are several"}}}};
    if (const auto release = on.kernel_release()) target = {{"kernel_release", *release}, {"kernel_problem", nullptr}};
    target.update({{"live", on.live()}, {"arch", "x86_64"}, {"hardware", "assume"}});
    return driver.plan(
        spec, back,
        Inputs{{{"target", target},
                {"outputs", Json::object()},
                {"catalogues", {{"source", testing::to_json(testing::catalogue(packages, complete))}}}}});
  }
  Plan good(const Host& on) const {
    auto plan = of(on);
    EXPECT_TRUE(plan) << to_text(plan.error());
    return plan ? *plan : Plan{};
  }
  Error bad(const Host& on) const {
    auto plan = of(on);
    EXPECT_FALSE(plan) << summary(*plan);
    return plan ? Error{} : plan.error();
  }
  /// The receipt is in the root, as after an apply.
  Receipt installed(const Plan& plan) const {
    for (const auto& action : plan.actions())
      if (action.target() == kReceiptPath) {
        host.root().file(std::string(kReceiptPath), action.text("content"));
        return receipt_from_json(Json::parse(action.text("content"))).value_or(Receipt{});
      }
    ADD_FAILURE() << "no receipt";
    return {};
  }

  TestHost host;
  Json kernels = "all";
  Json modules = "auto";
  std::string without_package = "error";
  bool complete = true;
  std::vector<TestPackage> packages{{.kernel = kKernel}, {.kernel = kOther}};
};

TEST_F(PlanKernels, AllGetTheirModulesBesideEachOther) {
  const auto plan = good(*offline());
  const auto text = summary(plan);
  EXPECT_THAT(text, HasSubstr("modules/6.1.0-56-amd64=sha256:modules-535.261.03-open-6.1.0-56-amd64 "
                              "modules/6.1.0-50-amd64=sha256:modules-535.261.03-open-6.1.0-50-amd64 "
                              "!ldconfig !depmod:6.1.0-56-amd64 !depmod:6.1.0-50-amd64\n"));
  for (const std::string& release : {std::string(kKernel), kOther})
    EXPECT_THAT(text, HasSubstr("symlink /usr/lib/modules/" + release + "/updates/slipway -> " +
                                "../../../slipway/store/driver/current/modules/" + release +
                                "/kernel !depmod:" + release + "\n"));
  const Receipt receipt = installed(plan);
  EXPECT_EQ(receipt.kernel_release, kOther);
  EXPECT_EQ(receipt.kernels_text(), "kernels 6.1.0-56-amd64 and 6.1.0-50-amd64");
  EXPECT_EQ(receipt.further.front().manifest, "sha256:535.261.03-open-6.1.0-50-amd64");
  EXPECT_EQ(receipt.further.front().modules.size(), 2U);
  EXPECT_EQ(to_json(good(*offline())), to_json(plan)) << "what an apply leaves behind changes no plan";
}

TEST_F(PlanKernels, TakeEachLayerFromThePackageOfItsKernel) {
  const Json actions = to_json(good(*offline()))["actions"];
  std::map<std::string, std::string> manifests;
  for (const Json& layer : actions[0]["layers"]) manifests[layer["as"]] = layer["manifest"];
  EXPECT_EQ(manifests["modules/" + kOther], "sha256:535.261.03-open-6.1.0-56-amd64");
  EXPECT_EQ(manifests[std::string("modules/") + kKernel], "sha256:535.261.03-open-6.1.0-50-amd64");
}

TEST_F(PlanKernels, NewestAndNamedOnesAreTheOnlyOnes) {
  add_kernel("6.1.0-9-amd64");  // ordered as text it would be the last
  kernels = "newest";
  EXPECT_EQ(installed(good(*offline())).kernels_text(), "kernel 6.1.0-56-amd64");
  kernels = Json{kKernel};
  EXPECT_EQ(installed(good(*offline())).kernels_text(), "kernel 6.1.0-50-amd64");
  kernels = Json{kKernel, kOther};
  EXPECT_EQ(installed(good(*offline())).kernels_text(), "kernels 6.1.0-56-amd64 and 6.1.0-50-amd64");
}

TEST_F(PlanKernels, OfTheCommandLineGoBeforeThoseOfTheSpec) {
  EXPECT_EQ(installed(good(*offline({kKernel}))).kernels_text(), "kernel 6.1.0-50-amd64");
  kernels = nullptr;
  EXPECT_EQ(installed(good(*offline({kKernel, kOther}))).kernels_text(), "kernels 6.1.0-56-amd64 and 6.1.0-50-amd64");
}

TEST_F(PlanKernels, WithoutTheKeyAreUnchanged) {
  kernels = nullptr;
  EXPECT_EQ(bad(*offline()).what, "there are several");
  EXPECT_EQ(installed(good(*offline({kKernel}))).kernels_text(), "kernel 6.1.0-50-amd64");
}

TEST_F(PlanKernels, RunningIsForALiveMachine) {
  kernels = "running";
  EXPECT_THAT(to_text(bad(*offline())), HasSubstr("this root is not running\n  at:    spec.components.driver.kernels"));
  host.gpu("0000:1b:00.0", 0x2330);
  EXPECT_EQ(installed(good(*host.live())).kernels_text(), "kernel 6.1.0-50-amd64");
}

TEST_F(PlanKernels, WithoutTheOneThatRunsAwaitAReboot) {
  host.gpu("0000:1b:00.0", 0x2330);
  kernels = "newest";
  const auto plan = good(*host.live());
  EXPECT_THAT(summary(plan), HasSubstr("custom reboot {\"awaits\":\"kernel\",\"kernels\":[\"6.1.0-56-amd64\"]}\n"));
  EXPECT_THAT(summary(plan), Not(HasSubstr("kernel-module")));
  const auto& action = plan.actions().back();
  EXPECT_FALSE(*Driver{}.check(action, *host.live()));
  const auto outcome = Driver{}.apply(action, *host.live());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, Outcome::Kind::reboot_required);
  EXPECT_EQ(outcome->reason, "kernel 6.1.0-50-amd64 runs, and the driver's modules are for 6.1.0-56-amd64");
  host.view().file("/proc/sys/kernel/osrelease", kOther + "\n");
  EXPECT_TRUE(*Driver{}.check(action, *host.live()));
  EXPECT_THAT(summary(good(*host.live())), HasSubstr("kernel-module nvidia\n"));
}

// Before the fix, with --kernel, the plan loaded the modules of that kernel into the running one, which failed and was
// undone.
TEST_F(PlanKernels, OfTheCommandLineWithoutTheOneThatRunsAwaitARebootAsThoseOfTheSpec) {
  host.gpu("0000:1b:00.0", 0x2330);
  host.view().file("/proc/sys/kernel/osrelease", std::string(kKernel) + "\n");
  kernels = Json{kOther};
  const auto by_spec = good(*host.live());
  kernels = nullptr;
  const auto plan = good(*live_for(kOther));
  EXPECT_EQ(summary(plan), summary(by_spec));
  EXPECT_THAT(summary(plan), HasSubstr("custom reboot {\"awaits\":\"kernel\",\"kernels\":[\"6.1.0-56-amd64\"]}\n"));
  EXPECT_THAT(summary(plan), Not(HasSubstr("kernel-module")));
  EXPECT_EQ(Driver{}.apply(plan.actions().back(), *live_for(kOther))->kind, Outcome::Kind::reboot_required);
  EXPECT_THAT(summary(good(*live_for(kKernel))), HasSubstr("kernel-module nvidia\n"));
}

// Before the fix, nothing created /dev/nvidia* after the reboot, because no unit had been left for it.
TEST_F(PlanKernels, ThatAwaitARebootHaveWorkForThatBoot) {
  host.gpu("0000:1b:00.0", 0x2330);
  kernels = "newest";
  EXPECT_EQ(good(*host.live()).actions().back().value("lost_at_boot"), true);
}

TEST_F(PlanKernels, OneWithoutAPackageIsAnErrorWithTheNearest) {
  add_kernel("6.1.0-53-amd64");
  const auto error = bad(*offline());
  EXPECT_EQ(error.what, "no driver package fits kernel 6.1.0-53-amd64");
  EXPECT_THAT(to_text(error), HasSubstr("kernels 6.1.0-50-amd64, 6.1.0-56-amd64"));
  EXPECT_THAT(error.next, HasSubstr("or write kernel_without_package: note"));
}

TEST_F(PlanKernels, OneWithoutAPackageCanBeANote) {
  without_package = "note";
  add_kernel("6.1.0-53-amd64");
  const auto plan = good(*offline());
  EXPECT_THAT(plan.notes(),
              Contains("kernel 6.1.0-53-amd64 gets no driver modules: no driver package fits kernel 6.1.0-53-amd64; "
                       "those with a package are 6.1.0-50-amd64, 6.1.0-56-amd64"));
  EXPECT_EQ(installed(plan).without, std::vector<std::string>{"6.1.0-53-amd64"});
  packages.pop_back();
  const Error error = bad(*offline());
  EXPECT_EQ(error.what, "no driver package fits kernel 6.1.0-56-amd64") << "the newest needs one";
  EXPECT_EQ(error.details.back().second,
            "kernel_without_package: note does not apply to 6.1.0-56-amd64: the newest of "
            "the kernels always needs modules");
}

// The package was searched once, in the complete source: the lock need not contain it, and a second plan needs no
// network.
TEST_F(PlanKernels, WithoutAPackageAreNotSearchedAgain) {
  without_package = "note";
  add_kernel("6.1.0-53-amd64");
  const auto plan = good(*offline());
  complete = false;
  EXPECT_EQ(bad(*offline()).code, ErrorCode::needs_catalogue);
  installed(plan);
  EXPECT_EQ(to_json(good(*offline()))["actions"], to_json(plan)["actions"]);
  without_package = "error";
  EXPECT_EQ(bad(*offline()).code, ErrorCode::needs_catalogue) << "an error is worth another look";
}

TEST_F(PlanKernels, MissingFromTheLockAreSearched) {
  complete = false;
  packages.pop_back();
  EXPECT_EQ(bad(*offline()).code, ErrorCode::needs_catalogue);
}

TEST_F(PlanKernels, OneWithHeadersIsCompiledForWhereTheOthersHavePackages) {
  host.build_tools();
  packages = {{.kernel = kOther}, {.kernel = ""}};
  const auto plan = good(*offline());
  EXPECT_THAT(summary(plan), HasSubstr("modules/6.1.0-56-amd64=sha256:modules-535.261.03-open-6.1.0-56-amd64 "
                                       "modules/6.1.0-50-amd64=sha256:source-535.261.03-open(build)"));
  const Receipt receipt = installed(plan);
  EXPECT_FALSE(receipt.compiled);
  EXPECT_TRUE(receipt.further.front().compiled);
  complete = false;
  EXPECT_EQ(to_json(good(*offline()))["actions"], to_json(plan)["actions"]) << "the lock and the receipt decide";
}

TEST_F(PlanKernels, OneWithoutHeadersIsAnErrorThatNamesMissingParts) {
  packages = {{.kernel = kOther}, {.kernel = ""}};
  EXPECT_THAT(bad(*offline()).what, HasSubstr("must be compiled for kernel 6.1.0-50-amd64, and its headers are not"));
  without_package = "note";
  EXPECT_THAT(good(*offline()).notes(), Contains(HasSubstr("kernel 6.1.0-50-amd64 gets no driver modules: ")));
}

TEST_F(PlanKernels, HaveModulesOfOneFlavour) {
  packages = {{.kernel = kOther}, {.kernel = kKernel, .flavour = "proprietary"}};
  host.gpu("0000:1b:00.0", 0x2330);
  without_package = "note";
  kernels = Json{kKernel, kOther};
  EXPECT_EQ(installed(good(*host.live())).kernels_text(), "kernel 6.1.0-56-amd64");
}

TEST_F(PlanKernels, ThatMayBootNouveauFromTheirInitramfsAllGetANewOne) {
  host.root().file("/usr/sbin/update-initramfs", "");
  host.root().file("/etc/initramfs-tools/modules", "nouveau\n");
  host.root().file("/usr/lib/modules/" + kOther + "/kernel/drivers/gpu/drm/nouveau/nouveau.ko.xz", "");
  EXPECT_THAT(summary(good(*offline())), HasSubstr("file /etc/modprobe.d/slipway-nvidia.conf "
                                                   "!initramfs:6.1.0-56-amd64 !initramfs:6.1.0-50-amd64\n"));
}

TEST_F(PlanKernels, OfAForeignDriverAreAllChecked) {
  host.root().file("/usr/lib/modules/" + kOther + "/modules.dep", "updates/dkms/nvidia.ko:\n");
  EXPECT_EQ(bad(*offline()).what, "an NVIDIA driver that slipway did not install is in the way");
}

TEST_F(PlanKernels, ThatAreInvalidAreRefused) {
  for (const Json& value :
       {Json("some"), Json(3), Json::array(), Json{""}, Json{"../x"}, Json{1}, Json{kKernel, kKernel}}) {
    kernels = value;
    const auto error = bad(*offline());
    EXPECT_EQ(error.code, ErrorCode::invalid) << value;
    EXPECT_EQ(error.where, "spec.components.driver.kernels") << value;
  }
}

TEST_F(PlanKernels, NoteWithoutFurtherKernelsIsRefused) {
  kernels = nullptr;
  without_package = "note";
  EXPECT_THAT(bad(*offline({kKernel})).what, HasSubstr("kernel_without_package: note has no effect"));
}

TEST_F(PlanKernels, GetBothKindsOfModulesOrNone) {
  modules = {"open", "proprietary"};
  for (const std::string& release : {std::string(kKernel), kOther})
    packages.push_back({.kernel = release, .flavour = "proprietary"});
  const auto plan = good(*offline());
  const auto text = summary(plan);
  for (const std::string& release : {std::string(kKernel), kOther}) {
    EXPECT_THAT(text, HasSubstr(" modules/" + release + "=sha256:modules-535.261.03-open-" + release));
    EXPECT_THAT(text,
                HasSubstr(" modules-proprietary/" + release + "=sha256:modules-535.261.03-proprietary-" + release));
    EXPECT_THAT(text, HasSubstr("current/modules/" + release + "/kernel !depmod"))
        << "in an image the open ones are used";
  }
  EXPECT_THAT(text, Not(HasSubstr("modules-load.d")));
  const Receipt receipt = installed(plan);
  EXPECT_EQ(receipt.flavours_text(), "open and proprietary");
  ASSERT_EQ(receipt.proprietary.size(), 2U);
  EXPECT_EQ(receipt_from_json(to_json(receipt))->proprietary.back().manifest, receipt.proprietary.back().manifest);
  packages.erase(packages.begin() + 2);  // the proprietary ones of the older kernel
  EXPECT_THAT(to_text(bad(*offline())), HasSubstr("proprietary modules, kernel " + std::string(kKernel)));
  without_package = "note";
  const auto without = good(*offline());
  EXPECT_THAT(without.notes(), Contains(HasSubstr("kernel 6.1.0-50-amd64 gets no driver modules")));
  EXPECT_THAT(summary(without), Not(HasSubstr("modules/6.1.0-50-amd64=")));
}

TEST_F(PlanKernels, OfAMachineWithV100UseTheProprietaryModulesOfBothKinds) {
  modules = {"proprietary", "open"};
  kernels = nullptr;
  packages = {{.kernel = kKernel}, {.kernel = kKernel, .flavour = "proprietary"}};
  host.gpu("0000:65:00.0", 0x1db5);
  const auto plan = good(*live_for(kKernel));
  EXPECT_THAT(summary(plan), HasSubstr("current/modules-proprietary/6.1.0-50-amd64/kernel !depmod:6.1.0-50-amd64"));
  EXPECT_THAT(plan.notes(), Contains(HasSubstr("the proprietary ones are used here: V100-SXM2-32GB (volta) at "
                                               "0000:65:00.0 is not supported by the open modules")));
  EXPECT_EQ(plan.outputs()["flavour"], "proprietary");
}

}  // namespace
}  // namespace slipway::driver
