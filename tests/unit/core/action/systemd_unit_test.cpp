// SPDX-License-Identifier: Apache-2.0
// Kind systemd-unit, the [Install] rules, and the triggers that restart and reload units.
#include <filesystem>

#include <gmock/gmock.h>

#include "action_fixture.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/action/unit/unit_file.hpp"
#include "fake_machine.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr auto kFiles = TempRoot::Times::files;
const std::string kUnitFolder = "/etc/systemd/system/";
const std::string kContent = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n";

std::map<std::string, std::string> links_of(const std::string& unit, const std::string& install, const Host& host) {
  return enablement_links(host, unit, "/lib/systemd/system/" + unit_file_name(unit), "[Install]\n" + install);
}

class UnitFile : public ActionTest {};

TEST_F(UnitFile, InstallSectionsAreReadAsSystemdReadsThem) {
  const InstallSection install = parse_install(
      "[Unit]\nWantedBy=not-here.target\n[Install]\n# WantedBy=x\nWantedBy = a.target \\\n  "
      "b.target\nWantedBy=c.target\n"
      "RequiredBy=gone.target\nRequiredBy=\nRequiredBy=r.target\n; x\nAlias=other.service\n[Service]\nWantedBy=no\n");
  EXPECT_THAT(install.wanted_by, ElementsAre("a.target", "b.target", "c.target"));
  EXPECT_THAT(install.required_by, ElementsAre("r.target"));
  EXPECT_THAT(install.alias, ElementsAre("other.service"));
}

TEST_F(UnitFile, EveryWayOfBeingEnabledHasItsLink) {
  EXPECT_THAT(
      links_of("a.service", "WantedBy=m.target\nRequiredBy=n.target\nUpheldBy=o.target\nAlias=b.service\n", *host),
      UnorderedElementsAre(Pair(kUnitFolder + "m.target.wants/a.service", "/lib/systemd/system/a.service"),
                           Pair(kUnitFolder + "n.target.requires/a.service", "/lib/systemd/system/a.service"),
                           Pair(kUnitFolder + "o.target.upholds/a.service", "/lib/systemd/system/a.service"),
                           Pair(kUnitFolder + "b.service", "/lib/systemd/system/a.service")));
}

TEST_F(UnitFile, InstancesAndSpecifiersAreExpanded) {
  EXPECT_THAT(links_of("a@tty1.service", "WantedBy=getty-%i.target\nAlias=%p-%i.service\n", *host),
              UnorderedElementsAre(
                  Pair(kUnitFolder + "getty-tty1.target.wants/a@tty1.service", "/lib/systemd/system/a@.service"),
                  Pair(kUnitFolder + "a-tty1.service", "/lib/systemd/system/a@.service")));
  EXPECT_THAT(links_of("a@.service", "DefaultInstance=one\nWantedBy=m.target\n", *host),
              ElementsAre(Pair(kUnitFolder + "m.target.wants/a@one.service", "/lib/systemd/system/a@.service")));
  EXPECT_TRUE(links_of("a@.service", "WantedBy=m.target\n", *host).empty());
}

TEST_F(UnitFile, AlsoEnablesOthersAndCirclesEnd) {
  root.put("/usr/lib/systemd/system/a.socket", "[Install]\nWantedBy=sockets.target\nAlso=a.service\n");
  EXPECT_THAT(
      links_of("a.service", "Also=a.socket\nWantedBy=m.target\n", *host),
      UnorderedElementsAre(Pair(kUnitFolder + "m.target.wants/a.service", "/lib/systemd/system/a.service"),
                           Pair(kUnitFolder + "sockets.target.wants/a.socket", "/usr/lib/systemd/system/a.socket")));
}

class SystemdUnitAction : public ActionTest {
 protected:
  Action desired = action::systemd_unit({.name = "slipway-boot.service", .content = kContent});
};

TEST_F(SystemdUnitAction, WritesAndEnablesInARootThatIsNotLive) {
  const std::string before = root.listing(kFiles);
  EXPECT_EQ(check(desired).standing, Standing::change);
  EXPECT_THAT(check(desired).summary, HasSubstr("enable slipway-boot.service"));
  apply_and_remember(desired);
  EXPECT_EQ(root.content(kUnitFolder + "slipway-boot.service"), kContent);
  EXPECT_EQ(std::filesystem::read_symlink(root.at(kUnitFolder + "multi-user.target.wants/slipway-boot.service")),
            kUnitFolder + "slipway-boot.service");
  EXPECT_EQ(check(desired).standing, Standing::satisfied);
  EXPECT_FALSE(*kind(desired).drifted(desired, context));
  take_away(desired);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(SystemdUnitAction, EnablesAUnitThatAPackageBrought) {
  root.put("/usr/lib/systemd/system/containerd.service", kContent);
  const Action action = action::systemd_unit({.name = "containerd.service"});
  const std::string before = root.listing(kFiles);
  apply_and_remember(action);
  EXPECT_TRUE(root.has(kUnitFolder + "multi-user.target.wants/containerd.service"));
  EXPECT_EQ(check(action).standing, Standing::satisfied);
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(SystemdUnitAction, LinksOfAnEarlierActionAreGivenUp) {
  apply_and_remember(desired);
  Action moved =
      action::systemd_unit({.name = "slipway-boot.service", .content = "[Install]\nWantedBy=basic.target\n"});
  EXPECT_EQ(check(moved).standing, Standing::change);
  apply_and_remember(moved);
  EXPECT_FALSE(root.has(kUnitFolder + "multi-user.target.wants/slipway-boot.service"));
  EXPECT_TRUE(root.has(kUnitFolder + "basic.target.wants/slipway-boot.service"));
  EXPECT_EQ(check(moved).standing, Standing::satisfied);
  take_away(moved);
  EXPECT_EQ(root.listing(kFiles), "");
}

TEST_F(SystemdUnitAction, DisablesUnitsThatShouldNotBeEnabled) {
  root.put("/usr/lib/systemd/system/x.service", kContent);
  root.link(kUnitFolder + "multi-user.target.wants/x.service", "/usr/lib/systemd/system/x.service");
  const std::string before = root.listing(kFiles);
  const Action action = action::systemd_unit({.name = "x.service", .enabled = false, .started = false});
  EXPECT_THAT(check(action).summary, HasSubstr("disable x.service"));
  apply_and_remember(action);
  EXPECT_FALSE(root.has(kUnitFolder + "multi-user.target.wants/x.service"));
  take_away(action);
  EXPECT_EQ(root.listing(kFiles), before);
}

TEST_F(SystemdUnitAction, AMaskedUnitIsAConflictThatExplainsHowToUnmaskIt) {
  root.link(kUnitFolder + "slipway-boot.service", "/dev/null");
  const Check found = check(desired);
  EXPECT_EQ(found.standing, Standing::conflict);
  EXPECT_EQ(found.problem.value().next, "systemctl unmask slipway-boot.service");
}

TEST_F(SystemdUnitAction, AnEditedUnitFileIsKept) {
  apply_and_remember(desired);
  root.put(kUnitFolder + "slipway-boot.service", kContent + "# mine\n");
  EXPECT_EQ(check(desired).standing, Standing::drift_kept);
  EXPECT_TRUE(*kind(desired).drifted(desired, context));
  kind(desired).adopt(check(desired).edit.value().state, context.record, context.original);
  EXPECT_EQ(check(desired).standing, Standing::change);
}

// Before the fix, the next plan took the edit for slipway's own, and replaced it.
TEST_F(SystemdUnitAction, AnEditedUnitFileIsKeptWhenOnlyItsLinksChange) {
  apply_and_remember(desired);
  root.put(kUnitFolder + "slipway-boot.service", kContent + "# mine\n");
  ASSERT_TRUE(fs.remove(kUnitFolder + "multi-user.target.wants/slipway-boot.service").ok());
  EXPECT_EQ(check(desired).standing, Standing::change);
  EXPECT_THAT(check(desired).summary, HasSubstr("keep " + kUnitFolder + "slipway-boot.service"));
  EXPECT_TRUE(kind(desired).perform(desired, context).ok());
  context.record = *kind(desired).fingerprint(desired, context);
  EXPECT_EQ(check(desired).standing, Standing::drift_kept);
}

TEST_F(SystemdUnitAction, AUnitThatIsNowhereIsAnErrorWhenItsTurnComes) {
  const Action action = action::systemd_unit({.name = "nowhere.service"});
  EXPECT_EQ(check(action).standing, Standing::change);
  const auto done = kind(action).perform(action, context);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::not_found);
}

class LiveUnitAction : public SystemdUnitAction {
 protected:
  FakeMachine machine{root};
  ActionContext live{fs, machine, stager, {}, {}, {}, {}};

  Image live_apply(const Action& action) {
    const Image image = kind(action).capture(action, live).value();
    EXPECT_TRUE(kind(action).stage(action, live).ok());
    const auto done = kind(action).perform(action, live);
    EXPECT_TRUE(done.ok()) << (done ? "" : to_text(done.error()));
    live.record = kind(action).fingerprint(action, live).value();
    return image;
  }
  Standing standing(const Action& action) { return kind(action).check(action, live).value().standing; }
};

TEST_F(LiveUnitAction, StartsItAndSeesThatItStays) {
  const Image image = live_apply(desired);
  EXPECT_THAT(machine.calls, ElementsAre("systemctl daemon-reload", "systemctl start slipway-boot.service"));
  EXPECT_EQ(standing(desired), Standing::satisfied);
  machine.calls.clear();
  ASSERT_TRUE(kind(desired).restore(desired, image, live).ok());
  EXPECT_THAT(machine.calls, ElementsAre("systemctl stop slipway-boot.service", "systemctl daemon-reload"));
  EXPECT_FALSE(root.has(kUnitFolder + "slipway-boot.service"));
}

TEST_F(LiveUnitAction, RestartsARunningUnitWhoseFileChanged) {
  live_apply(desired);
  machine.calls.clear();
  const Action newer = action::systemd_unit({.name = "slipway-boot.service", .content = kContent + "#\n"});
  const Image image = live_apply(newer);
  EXPECT_THAT(machine.calls, ElementsAre("systemctl daemon-reload", "systemctl restart slipway-boot.service"));
  machine.calls.clear();
  ASSERT_TRUE(kind(newer).restore(newer, image, live).ok());
  EXPECT_EQ(root.content(kUnitFolder + "slipway-boot.service"), kContent);
  EXPECT_THAT(machine.calls, ElementsAre("systemctl daemon-reload", "systemctl restart slipway-boot.service"));
}

TEST_F(LiveUnitAction, AUnitThatDiesIsAnErrorWithItsLastLines) {
  machine.dies = {"slipway-boot.service"};
  ASSERT_TRUE(kind(desired).stage(desired, live).ok());
  const auto done = kind(desired).perform(desired, live);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(to_text(done.error()), HasSubstr("slipway-boot.service is failed"));
  EXPECT_THAT(to_text(done.error()), HasSubstr("last words of slipway-boot.service"));
  EXPECT_EQ(standing(desired), Standing::change);
}

TEST_F(LiveUnitAction, AUnitThatFailedIsForgottenWithItsFile) {
  const Image image = live_apply(desired);
  machine.units["slipway-boot.service"].active = "failed";
  machine.calls.clear();
  ASSERT_TRUE(kind(desired).restore(desired, image, live).ok());
  EXPECT_THAT(machine.calls, ElementsAre("systemctl daemon-reload", "systemctl reset-failed slipway-boot.service"));
}

TEST_F(LiveUnitAction, AUnitThatFailsWhileItStopsIsForgottenToo) {
  const Image image = live_apply(desired);
  machine.dies_stopping = {"slipway-boot.service"};
  ASSERT_TRUE(kind(desired).restore(desired, image, live).ok());
  EXPECT_EQ(machine.calls.back(), "systemctl reset-failed slipway-boot.service");
  EXPECT_EQ(machine.units["slipway-boot.service"].active, "inactive");
}

TEST_F(LiveUnitAction, AOneshotThatRanThroughCountsAsStarted) {
  machine.units["slipway-boot.service"].type = "oneshot";
  live_apply(desired);
  EXPECT_EQ(standing(desired), Standing::satisfied);
}

TEST_F(LiveUnitAction, AnUnreadUnitFileIsAChange) {
  live_apply(desired);
  machine.units["slipway-boot.service"].needs_reload = true;
  EXPECT_EQ(standing(desired), Standing::change);
  live_apply(desired);
  EXPECT_EQ(standing(desired), Standing::satisfied);
}

class UnitTrigger : public LiveUnitAction {
 protected:
  void SetUp() override { machine.units["containerd.service"] = {.active = "active", .sub = "running", .pid = "9"}; }
  TriggerRun run(const std::string& trigger) { return Trigger(trigger).run(live).value(); }
};

TEST_F(UnitTrigger, RestartsARunningUnitOnceAndChecksThatItIsBack) {
  const TriggerRun done = run("restart:containerd.service");
  EXPECT_TRUE(done.done);
  EXPECT_THAT(machine.calls,
              ElementsAre("systemctl reset-failed containerd.service", "systemctl restart containerd.service"));
}

TEST_F(UnitTrigger, LeavesAUnitThatDoesNotRunAlone) {
  machine.units["containerd.service"].active = "inactive";
  EXPECT_THAT(run("restart:containerd.service").why, HasSubstr("is not running"));
  EXPECT_THAT(run("restart:no-such.service").why, HasSubstr("no unit no-such.service"));
  EXPECT_TRUE(machine.calls.empty());
}

TEST_F(UnitTrigger, AUnitThatDoesNotComeBackIsAnErrorWithItsLastLines) {
  machine.dies = {"containerd.service"};
  const auto done = Trigger("restart:containerd.service").run(live);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(to_text(done.error()), HasSubstr("last words of containerd.service"));
}

TEST_F(UnitTrigger, ClearsAFailureBeforeItStartsAgain) {
  machine.units["containerd.service"].active = "failed";
  run("restart:containerd.service");
  EXPECT_THAT(machine.calls,
              ElementsAre("systemctl reset-failed containerd.service", "systemctl restart containerd.service"));
}

TEST_F(UnitTrigger, ReloadsOnlyWhatCanReload) {
  EXPECT_TRUE(run("reload:containerd.service").done);
  machine.units["containerd.service"].can_reload = false;
  EXPECT_FALSE(Trigger("reload:containerd.service").run(live).ok());
  EXPECT_TRUE(run("daemon-reload").done);
}

TEST_F(UnitTrigger, AMachineWithoutSystemdIsSkipped) {
  std::filesystem::remove_all(root.at("/run/systemd"));
  EXPECT_THAT(run("daemon-reload").why, HasSubstr("does not run systemd"));
}

}  // namespace
}  // namespace slipway::core
