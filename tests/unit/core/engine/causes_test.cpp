// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/causes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using All = std::map<std::string, Findings>;

constexpr auto kFail = Finding::Status::fail;
constexpr auto kWarning = Finding::Status::warning;

void add(All& all, Finding finding) { all[finding.name.substr(0, finding.name.find('.'))].add(std::move(finding)); }

std::vector<std::string> names_of(const CauseEntry& entry) {
  std::vector<std::string> names{entry.head->name};
  for (const Finding* each : entry.consequences) names.push_back(each->name);
  return names;
}

// Before the fix, a lost GPU gave ten entries with five remedies, the first of which was `slipway apply`.
TEST(Causes, OfALostGpuMakeOneEntryThatBeginsWithItsHealth) {
  All all;
  add(all, {kFail, "cdi.current", "changed", "run `slipway apply`", "gpu/0000:5d:00.0/lost/specs"});
  add(all, {kFail, "cdi.lost", "GPU 3 is lost", "reset or reboot", "gpu/0000:5d:00.0/lost"});
  add(all, {kWarning, "deviceplugin.service", "reports: GPU 3 is unhealthy: XID 79", "journalctl"});
  add(all, {kFail, "deviceplugin.health", "GPU 3: XID 79", "power the node off and on", "gpu/0000:5d:00.0"});
  add(all, {kFail, "mig.layout", "cannot reach GPU 3", "dmesg", "gpu/0000:5d:00.0/lost"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].head->remedy, "power the node off and on");
  EXPECT_THAT(names_of(entries[0]),
              ElementsAre("deviceplugin.health", "cdi.current", "cdi.lost", "deviceplugin.service", "mig.layout"));
}

// Before the fix, after exit 4, a modprobe and an apply were advised, followed by the pending reboot.
TEST(Causes, OfAComponentThatAwaitsARebootBeginWithTheReboot) {
  All all;
  add(all, {kFail, "driver.loaded", "no driver is loaded", "run `modprobe nvidia`"});
  add(all, {kFail, "driver.links", "a link is missing", "run `slipway apply`"});
  add(all, {kWarning, "driver.apply", "the last apply left it reboot-required", kReboot});
  add(all, {kFail, "cdi.specs", "no spec is there", "run `slipway apply`", "driver.loaded"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("driver.apply", "cdi.specs", "driver.loaded", "driver.links"));
  EXPECT_EQ(entries[0].head->remedy, "reboot");
  EXPECT_EQ(entries[0].worst(), kFail);
}

// Before the fix, the file was one entry and the failed apply another.
TEST(Causes, OfAnApplyThatAFileMadeFailAreOneEntry) {
  All all;
  add(all, {kFail, "runtime.apply", "the last apply left it failed: /etc/a.toml:2:9: not TOML", "correct it, apply"});
  add(all, {kFail, "runtime.containerd", "not TOML (/etc/a.toml:2:9)", "correct it"});
  add(all, {kFail, "runtime.docker", "not JSON (/etc/b.json:1:1)", "correct it"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("runtime.apply", "runtime.containerd"));
  EXPECT_THAT(names_of(entries[1]), ElementsAre("runtime.docker")) << "another file";
}

TEST(Causes, OfALostGpuWithoutAHealthFindingBeginWithTheLoss) {
  All all;
  add(all, {kFail, "cdi.current", "changed", "run `slipway apply`", "gpu/0000:5d:00.0/lost/specs"});
  add(all, {kWarning, "cdi.lost", "GPU 3 is lost", "reset or reboot", "gpu/0000:5d:00.0/lost"});
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].head->remedy, "reset or reboot");
  EXPECT_EQ(entries[0].worst(), kFail);
}

TEST(Causes, OfAnUnreadableFileMakeOneEntry) {
  All all;
  add(all, {kFail, "runtime.containerd", "it is not TOML: no value (/etc/containerd/config.toml:11:5)", "correct it"});
  add(all, {kFail, "runtime.owned", "/etc/containerd/config.toml:11:5: this is not a valid TOML", "`slipway plan`"});
  add(all, {kFail, "runtime.verify", "/etc/containerd/config.toml:11:5: it is not TOML: no value", "correct it"});
  add(all, {kFail, "runtime.docker", "/etc/docker/daemon.json:3:1: it is not JSON", "correct that"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("runtime.containerd", "runtime.owned", "runtime.verify"));
  EXPECT_THAT(names_of(entries[1]), ElementsAre("runtime.docker"));
}

// Before the fix, XID 79, a lost GPU and XID 48 got the remedy of the last one.
TEST(Causes, OfEachGpuMakeASeparateEntry) {
  All all;
  add(all, {kFail, "deviceplugin.health", "XID 48", "reset", "gpu/0000:18:00.0"});
  add(all, {kFail, "deviceplugin.health", "lost", "power off", "gpu/0000:5d:00.0"});
  add(all, {kFail, "dcgm.gpus", "GPU 3", "dmesg", "gpu/0000:5d:00.0/lost"});
  add(all, {kWarning, "gfd.gpus", "GPU 5", "look", "gpu/0000:ab:00.0/lost"});
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("deviceplugin.health", "dcgm.gpus"));
  EXPECT_EQ(entries[0].head->remedy, "power off");
  EXPECT_EQ(entries[1].head->remedy, "reset");
  EXPECT_THAT(names_of(entries[2]), ElementsAre("gfd.gpus")) << "what only warns comes last";
}

// Before the fix, "leads to dcgm.service" was below one of three bad GPUs, although the service reported all of them.
TEST(Causes, OfAReportAboutSeveralGpusAreAllOfThem) {
  All all;
  add(all, {kFail, "dcgm.health", "GPU 0: XID 48", "reset", "gpu/0000:18:00.0"});
  add(all, {kFail, "dcgm.health", "GPU 3: XID 79", "power off", "gpu/0000:5d:00.0"});
  add(all, {kWarning, "dcgm.health", "GPU 5: hot", "look", "gpu/0000:ab:00.0"});
  add(all, {kWarning, "dcgm.service", "reports: GPU 0 is unhealthy: XID 48; GPU 3 is unhealthy: XID 79"});
  name_causes(all, false);
  auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("dcgm.health", "dcgm.service"));
  EXPECT_THAT(names_of(entries[1]), ElementsAre("dcgm.health", "dcgm.service"));
  EXPECT_THAT(names_of(entries[2]), ElementsAre("dcgm.health")) << "the service does not report it";
  All more;
  for (const Finding& finding : all["dcgm"].list())
    more["dcgm"].add(finding.name == "dcgm.service"
                         ? Finding{kWarning, finding.name, "reports: GPU 0 is unhealthy: XID 48; and 2 more", {}}
                         : finding);
  name_causes(more, false);
  entries = entries_of(more);
  ASSERT_EQ(entries.size(), 3U);
  for (const CauseEntry& entry : entries) EXPECT_THAT(names_of(entry), ElementsAre("dcgm.health", "dcgm.service"));
}

// Before the fix, without a package for the kernel, three findings advised `slipway apply`, which cannot help.
TEST(Causes, OfAComponentThatCannotBePlannedAdviseNoApply) {
  All all;
  add(all, {kFail, "driver.apply", "the last apply left it failed", "run `slipway apply` again"});
  add(all, {kFail, "driver.installed", "not installed", "run `slipway apply`"});
  add(all, {kFail, "driver.owned", "differs", "`slipway plan --root /r` shows what an apply would put right"});
  add(all, {kFail, "driver.plan", "no package for kernel 6.1.0-99", "use another kernel"});
  add(all, {kFail, "driver.nouveau", "nouveau is loaded", "unload it"});
  add(all, {kFail, "driver.next-boot", "kernel 6.1.0-98 boots next", "`slipway plan --kernel 6.1.0-98` tells"});
  add(all, {kFail, "dra.apply", "it requires driver", "run `slipway apply` again", "driver.apply"});
  add(all, {kFail, "dra.owned", "not installed", "`slipway apply` installs it"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_THAT(names_of(entries[0]),
              ElementsAre("driver.plan", "dra.apply", "dra.owned", "driver.apply", "driver.installed", "driver.owned"));
  EXPECT_THAT(names_of(entries[1]), ElementsAre("driver.next-boot"));
  EXPECT_THAT(names_of(entries[2]), ElementsAre("driver.nouveau"));
  for (const Finding& finding : all["driver"].list()) {
    const bool keeps =
        finding.name == "driver.plan" || finding.name == "driver.nouveau" || finding.name == "driver.next-boot";
    EXPECT_EQ(finding.remedy.empty(), !keeps) << finding.name;
  }
}

// verify: the last apply failed because a package was missing; before the fix, the first entry advised the same apply
// again.
TEST(Causes, OfAFailedApplyLeadTheFindingsThatItWouldHaveFixed) {
  All all;
  add(all, {kWarning, "driver.apply", "the last apply left it failed: no package", "build a package"});
  add(all, {kFail, "driver.installed", "driver 535 is for kernel 6.1.0-50", "run `slipway apply --kernel 6.1.0-56`"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("driver.apply", "driver.installed"));
  EXPECT_EQ(entries[0].worst(), kFail);
}

TEST(Causes, OfAWaitingComponentAreItsOwnFindings) {
  All all;
  add(all, {kWarning, "mig.apply", std::string(kLeftWaiting) + ": GPU 0 is in use", "run `slipway apply` again"});
  add(all, {kWarning, "mig.in-use", "GPU 0 is held by pod a/b", "`kubectl delete pod b`", "mig.layout"});
  add(all, {kWarning, "mig.layout", "GPU 0 has another layout", "run `slipway apply`"});
  name_causes(all, false);
  for (const CauseEntry& entry : entries_of(all)) EXPECT_NE(names_of(entry).size(), 3U) << entry.head->name;
}

// MIG changed by hand, and a lost GPU: before the fix, mig.owned advised a plan, above the cause.
TEST(Causes, OfAChangedFileAreTheComponentsOwnFindings) {
  constexpr const char* kSeePlan = "`slipway plan` shows what an apply would put right";
  All all;
  add(all, {kFail, "mig.owned", std::string(kOwnWorkDiffers) + "MIG layouts", kSeePlan});
  add(all, {kFail, "mig.layout", "GPU 1 has another layout", "run `slipway apply`"});
  add(all, {kFail, "cdi.owned", std::string(kOwnWorkDiffers) + "specs", kSeePlan});
  add(all, {kFail, "cdi.lost", "GPU 3 is lost", "reset", "gpu/0000:5d:00.0/lost"});
  add(all, {kFail, "deviceplugin.owned", "an apply would write /etc/slipway/gpu-managers.json", kSeePlan});
  add(all, {kFail, "deviceplugin.health", "GPU 3: lost", "reset", "gpu/0000:5d:00.0"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("deviceplugin.health", "cdi.owned", "cdi.lost"));
  EXPECT_THAT(names_of(entries[1]), ElementsAre("mig.layout", "mig.owned"));
  EXPECT_THAT(names_of(entries[2]), ElementsAre("deviceplugin.owned")) << "a file has nothing to do with the GPU";
}

// Before the fix, a replaced config.toml gave three entries, two of which advised an apply, which keeps the edit.
TEST(Causes, OfFindingsThatKeptEditsCauseAreTheEdits) {
  All all;
  add(all, {kFail, "runtime.owned",
            "an apply would keep x in /etc/containerd/config.toml, edited after slipway wrote the file",
            "`slipway apply --replace-edits=/etc/containerd/config.toml` replaces it"});
  add(all, {kFail, "runtime.containerd", "no handler nvidia", "run `slipway apply`"});
  add(all, {kFail, "runtime.answers", "containerd does not run", "start it"});
  name_causes(all, false);
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("runtime.owned", "runtime.containerd"));
}

// Before the fix, components that a running apply was about to create were reported as wrong, with the advice to apply.
TEST(Causes, OfFindingsThatARunningApplyFixesAreThatApply) {
  All all;
  add(all, {kWarning, kApplyFinding, "an apply is under way", "wait"});
  add(all, {kFail, "cdi.owned", "not installed", "`slipway apply` installs it"});
  add(all, {kFail, "driver.loaded", "not loaded", "run `slipway apply`"});
  add(all, {kFail, "deviceplugin.health", "XID 79", "power off", "gpu/0000:18:00.0"});
  EXPECT_FALSE(awaits_apply(all));
  name_causes(all, true);
  EXPECT_TRUE(awaits_apply(all));
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre(kApplyFinding, "cdi.owned", "driver.loaded")) << "is told first";
  EXPECT_EQ(entries[0].worst(), kWarning);
  EXPECT_EQ(entries[1].worst(), kFail);
}

TEST(Causes, WithoutAFindingOfTheirOwnAreIgnored) {
  All all;
  add(all, {kFail, "cdi.specs", "no driver", "load it", "driver.loaded"});
  add(all, {kFail, "gfd.labels", "no driver", "load it", "driver.loaded"});
  const auto entries = entries_of(all);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(names_of(entries[0]), ElementsAre("cdi.specs", "gfd.labels"));
  all["driver"].fail("driver.loaded", "not loaded", "modprobe");
  EXPECT_THAT(names_of(entries_of(all)[0]), ElementsAre("driver.loaded", "cdi.specs", "gfd.labels"));
}

TEST(Causes, OfAServicesReportAreNotUnrelatedFindings) {
  All all;
  add(all, {kWarning, "dcgm.service", "the service works, and reports: metrics cannot be scraped", "journalctl"});
  add(all, {kWarning, "dcgm.kubelet", "there is no kubelet", "set pods: none"});
  name_causes(all, false);
  EXPECT_EQ(entries_of(all).size(), 2U);
}

// A plugin's causes may be any text.
TEST(Causes, InACircleAreStillShown) {
  All all;
  add(all, {kFail, "a.one", "x", "do", "a.two"});
  add(all, {kFail, "a.two", "y", "do", "a.one"});
  add(all, {kFail, "b.self", "z", "do", "b.self"});
  add(all, {kFail, "c.odd", "w", "do", "///"});
  std::size_t shown = 0;
  for (const CauseEntry& entry : entries_of(all)) shown += names_of(entry).size();
  EXPECT_EQ(shown, 4U);
  EXPECT_THAT(entries_of({}), IsEmpty());
}

TEST(Causes, OfPassedFindingsMakeNoEntries) {
  All all;
  all["a"].pass("a.one", "fine");
  add(all, {Finding::Status::not_exercised, "a.two", "not tried", {}, "gpu/0000:18:00.0"});
  EXPECT_THAT(entries_of(all), IsEmpty());
}

}  // namespace
}  // namespace slipway::core
