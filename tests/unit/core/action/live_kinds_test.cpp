// SPDX-License-Identifier: Apache-2.0
// Kinds that act on a running machine: device-node, kernel-module, exec, custom.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "action_fixture.hpp"
#include "core/action/module/kernel_log.hpp"
#include "core/action/module/module_users.hpp"
#include "core/action/trigger/trigger.hpp"
#include "fake_machine.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;
using ::testing::HasSubstr;

class LiveActionTest : public ActionTest {
 protected:
  FakeMachine machine{root};
  ActionContext live{fs, machine, stager, {}, {}, {}, {}};

  Check live_check(const Action& action) {
    const auto result = kind(action).check(action, live);
    EXPECT_TRUE(result.ok()) << (result ? "" : to_text(result.error()));
    return result.value_or(Check{});
  }
  Image live_apply(const Action& action) {
    const auto image = kind(action).capture(action, live);
    EXPECT_TRUE(image.ok());
    const auto done = kind(action).perform(action, live);
    EXPECT_TRUE(done.ok()) << (done ? "" : to_text(done.error()));
    return image.value_or(Image());
  }
};

class DeviceNodeAction : public LiveActionTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    root.put("/proc/devices", "Character devices:\n  1 mem\n195 nvidia\n508 nvidia-uvm\n\nBlock devices:\n  7 loop\n");
    root.make_folder("/dev");
  }
  Action control = action::device_node({.path = "/dev/nvidiactl", .major = 195, .minor = 255});
  Action uvm = action::device_node({.path = "/dev/nvidia-uvm", .major_of = "nvidia-uvm", .minor = 0});
};

TEST_F(DeviceNodeAction, MakesTheNodeAndTheLinkThatContainersLookFor) {
  EXPECT_EQ(live_check(uvm).summary, "create /dev/nvidia-uvm (character device 508:0, 0666)");
  live_apply(uvm);
  EXPECT_EQ(root.info("/dev/nvidia-uvm").st_rdev, makedev(508, 0));
  EXPECT_EQ(root.mode("/dev/nvidia-uvm"), 0666U);
  EXPECT_EQ(std::filesystem::read_symlink(root.at("/dev/char/508:0")), "../nvidia-uvm");
  EXPECT_EQ(live_check(uvm).standing, Standing::satisfied);
}

TEST_F(DeviceNodeAction, LinksFromBelowAFolderLeadBackToIt) {
  const Action cap =
      action::device_node({.path = "/dev/nvidia-caps/nvidia-cap1", .major = 240, .minor = 1, .mode = 0400});
  live_apply(cap);
  EXPECT_EQ(std::filesystem::read_symlink(root.at("/dev/char/240:1")), "../nvidia-caps/nvidia-cap1");
  EXPECT_EQ(root.mode("/dev/nvidia-caps"), 0755U);
}

TEST_F(DeviceNodeAction, LeavesARightNodeAloneAndReplacesAWrongOne) {
  ASSERT_EQ(::mknod(root.at("/dev/nvidiactl").c_str(), S_IFCHR | 0666, makedev(195, 255)), 0);
  ::chmod(root.at("/dev/nvidiactl").c_str(), 0666);
  const auto inode = root.info("/dev/nvidiactl").st_ino;
  EXPECT_EQ(live_check(control).summary, "link /dev/char/195:255 -> ../nvidiactl");
  const Image image = live_apply(control);
  EXPECT_EQ(root.info("/dev/nvidiactl").st_ino, inode);
  ASSERT_TRUE(kind(control).restore(control, image, live).ok());
  EXPECT_EQ(root.info("/dev/nvidiactl").st_rdev, makedev(195, 255));
  EXPECT_FALSE(root.has("/dev/char/195:255"));

  std::filesystem::remove(root.at("/dev/nvidiactl"));
  ASSERT_EQ(::mknod(root.at("/dev/nvidiactl").c_str(), S_IFCHR | 0600, makedev(195, 0)), 0);
  EXPECT_THAT(live_check(control).summary, HasSubstr("replace /dev/nvidiactl"));
  live_apply(control);
  EXPECT_EQ(root.info("/dev/nvidiactl").st_rdev, makedev(195, 255));
}

TEST_F(DeviceNodeAction, IsRemovedWithItsLink) {
  const Image image = live_apply(uvm);
  ASSERT_TRUE(kind(uvm).restore(uvm, image, live).ok());
  ASSERT_TRUE(kind(uvm).restore(uvm, image, live).ok());
  EXPECT_FALSE(root.has("/dev/nvidia-uvm"));
  EXPECT_FALSE(root.has("/dev/char/508:0"));
}

TEST_F(DeviceNodeAction, GetsTheRequestedGroupOrKeepsItsOwn) {
  root.put("/etc/group", "root:x:0:\nrender:x:105:\n");
  const Action render =
      action::device_node({.path = "/dev/dri/renderD128", .major = 226, .minor = 128, .mode = 0660, .group = "render"});
  live_apply(render);
  EXPECT_EQ(root.info("/dev/dri/renderD128").st_gid, 105U);
  EXPECT_EQ(live_check(render).standing, Standing::satisfied);
  ASSERT_EQ(::chown(root.at("/dev/dri/renderD128").c_str(), 0, 7), 0);
  EXPECT_EQ(live_check(render).summary, "give /dev/dri/renderD128 to root:render");
  live_apply(render);
  EXPECT_EQ(root.info("/dev/dri/renderD128").st_gid, 105U);

  live_apply(uvm);
  ASSERT_EQ(::chown(root.at("/dev/nvidia-uvm").c_str(), 0, 7), 0);
  EXPECT_EQ(live_check(uvm).standing, Standing::satisfied);
}

// The group comes from a file in the same plan, through the trigger `sysusers`.
TEST_F(DeviceNodeAction, IsPlannedButNotMadeBeforeItsGroupExists) {
  const Action node = action::device_node({.path = "/dev/acme", .major = 1, .minor = 3, .group = "acme"});
  EXPECT_EQ(live_check(node).standing, Standing::change);
  EXPECT_EQ(live_check(node).summary, "create /dev/acme (character device 1:3, 0666)");
  const auto done = kind(node).perform(node, live);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().what, HasSubstr("there is no group 'acme'"));
  EXPECT_FALSE(root.has("/dev/acme"));
  root.put("/etc/group", "acme:x:900:\n");
  live_apply(node);
  EXPECT_EQ(root.info("/dev/acme").st_gid, 900U);
  root.put("/etc/group", "others:x:901:\n");
  EXPECT_EQ(live_check(node).summary, "give /dev/acme to root:acme") << "a group that is made by a trigger of the plan";
}

// A machine without systemd creates its groups in another way; the plan notes that, and continues.
TEST_F(DeviceNodeAction, IsPlannedWhereNothingCanMakeItsGroup) {
  const auto prospect = Trigger("sysusers").foresee(machine);
  ASSERT_TRUE(prospect.ok()) << to_text(prospect.error());
  EXPECT_THAT(prospect->skipped, HasSubstr("has no systemd-sysusers"));
  const auto run = Trigger("sysusers").run(live);
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->done);
}

TEST_F(DeviceNodeAction, WaitsForTheModuleThatHasItsMajor) {
  root.put("/proc/devices", "Character devices:\n  1 mem\n");
  EXPECT_EQ(live_check(uvm).standing, Standing::change);
  EXPECT_EQ(live_check(uvm).summary, "create /dev/nvidia-uvm (character device nvidia-uvm's major:0, 0666)");
  const auto done = kind(uvm).perform(uvm, live);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::not_found);
}

TEST_F(DeviceNodeAction, IsBootWorkInARootThatIsNotLive) {
  EXPECT_EQ(check(control).standing, Standing::at_boot);
  EXPECT_FALSE(kind(control).perform(control, context).ok());
}

TEST_F(DeviceNodeAction, PathsOutsideDevAreRefused) {
  for (const std::string path : {"/etc/node", "/dev/../etc/x"}) {
    const Action bad(Json{{"kind", "device-node"}, {"target", path}, {"major", 1}, {"minor", 3}});
    EXPECT_FALSE(kind(bad).check(bad, live).ok()) << path;
  }
}

class KernelModuleAction : public LiveActionTest {};

TEST_F(KernelModuleAction, IsDoneWhenTheModuleIsLoadedAndBootWorkOffline) {
  root.put("/proc/modules", "nvidia_uvm 1540096 0 - Live 0x0000000000000000\n");
  const Action uvm = action::kernel_module("nvidia-uvm", {"uvm_disable_hmm=1"});
  EXPECT_EQ(live_check(uvm).standing, Standing::satisfied);
  EXPECT_EQ(live_check(action::kernel_module("nvidia", {"a=1", "b=2"})).summary, "load nvidia with a=1 b=2");
  EXPECT_EQ(check(uvm).standing, Standing::at_boot);
  EXPECT_FALSE(kind(uvm).perform(uvm, context).ok());
}

TEST_F(KernelModuleAction, AModuleThatIsNotInstalledIsNamedWithItsKernel) {
  root.make_folder("/lib/modules/6.1.0-test");
  root.put("/proc/sys/kernel/osrelease", "6.1.0-test\n");
  const Action action = action::kernel_module("nvidia");
  const auto done = kind(action).perform(action, live);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::not_found);
  EXPECT_THAT(done.error().what, HasSubstr("kernel 6.1.0-test"));
}

TEST_F(KernelModuleAction, OneThatWasLoadedBeforeIsNotUnloaded) {
  root.put("/proc/modules", "nvidia 1 0 - Live 0x0\n");
  const Action action = action::kernel_module("nvidia");
  const Image image = *kind(action).capture(action, live);
  EXPECT_EQ(image, (Image{{"loaded", true}}));
  EXPECT_TRUE(kind(action).restore(action, image, live).ok());
}

// A machine with driver 1 loaded: nvidia, which nvidia_uvm and nvidia_modeset need; nvidia_drm needs nvidia_modeset.
class LoadedModules : public LiveActionTest {
 protected:
  void SetUp() override {
    root.put("/proc/modules", "nvidia 1 2 - Live 0x0\nnvidia_uvm 1 0 - Live 0x0\n");
    module("nvidia", 2, {"nvidia_modeset", "nvidia_uvm"});
    module("nvidia_modeset", 1, {"nvidia_drm"});
    module("nvidia_uvm", 0, {});
    module("nvidia_drm", 0, {});
  }
  void module(const std::string& name, int users, const std::vector<std::string>& holders) const {
    const std::string folder = "/sys/module/" + name;
    root.put(folder + "/version", "1\n");
    root.put(folder + "/refcnt", std::to_string(users) + "\n");
    root.make_folder(folder + "/holders");
    for (const auto& holder : holders) root.make_folder(folder + "/holders/" + holder);
  }
};

TEST_F(LoadedModules, SatisfyOnlyTheVersionThatTheyAre) {
  EXPECT_EQ(live_check(action::kernel_module("nvidia", {}, "1")).standing, Standing::satisfied);
  const Check check = live_check(action::kernel_module("nvidia", {}, "2"));
  EXPECT_EQ(check.standing, Standing::change);
  EXPECT_EQ(check.summary, "replace the loaded nvidia 1 by 2");
}

TEST_F(LoadedModules, AreRememberedWithWhatIsOnTopOfThem) {
  const Action action = action::kernel_module("nvidia", {}, "2");
  EXPECT_EQ(*kind(action).capture(action, live),
            (Image{{"loaded", true}, {"on_top", {"nvidia_drm", "nvidia_modeset", "nvidia_uvm"}}, {"version", "1"}}));
}

TEST_F(LoadedModules, WaitForARebootWhileOneOfThemIsInUse) {
  module("nvidia_uvm", 3, {});
  const Action action = action::kernel_module("nvidia", {}, "2");
  const auto outcome = kind(action).perform(action, live);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->kind, Outcome::Kind::reboot_required);
  EXPECT_EQ(outcome->reason,
            "nvidia 1 is loaded and in use: nvidia_uvm (use count 3); 2 takes over with the next boot");
}

TEST(ModuleFailure, ExplainsWhatTheKernelSaid) {
  const auto text = [](int number, std::vector<std::string> messages) {
    return to_text(load_failure("nvidia", "6.1.0", number, messages, "quiet module_blacklist=nvidia_uvm"));
  };
  EXPECT_THAT(text(EKEYREJECTED, {}), HasSubstr("Secure Boot"));
  EXPECT_THAT(text(ENOKEY, {}), HasSubstr("mokutil --import"));
  EXPECT_THAT(text(ENOEXEC, {"nvidia: version magic '6.1.0-49 SMP' should be '6.1.0 SMP'"}),
              HasSubstr("built for another kernel"));
  EXPECT_THAT(text(ENOENT, {"nvidia: Unknown symbol drm_open (err -2)"}), HasSubstr("uses symbols"));
  EXPECT_THAT(text(ENODEV, {"NVRM: No NVIDIA GPU found."}), HasSubstr("found no device"));
  EXPECT_THAT(text(ENODEV, {"NVRM: No NVIDIA GPU found."}), HasSubstr("kernel: NVRM: No NVIDIA GPU found."));
  EXPECT_THAT(text(EPERM, {}), HasSubstr("CAP_SYS_MODULE"));
}

// Before the fix, "loading modules is not allowed here" made users look for CAP_SYS_MODULE.
TEST(ModuleFailure, NamesTheKernelParameterThatForbidsTheModule) {
  const auto text = [](const std::string& module, const std::vector<std::string>& messages) {
    return to_text(load_failure(module, "6.1.0", EPERM, messages, "ro module_blacklist=nouveau,nvidia_uvm quiet\n"));
  };
  EXPECT_THAT(text("nvidia-uvm", {}),
              HasSubstr("module_blacklist= on the kernel's command line names it (Operation not"));
  EXPECT_THAT(text("nvidia-uvm", {}), HasSubstr("boot loader's configuration"));
  EXPECT_THAT(text("nvidia", {}), HasSubstr("CAP_SYS_MODULE"));
  EXPECT_THAT(text("acme", {"Module nouveau is blacklisted"}), HasSubstr("names it, or a module that it needs"));
}

// Before the fix, the error for existing modules was "not installed for kernel 6.1.0: run depmod".
TEST_F(LoadedModules, ThatALineOfModprobeKeepsFromLoadingAreRefusedWithThatLine) {
  root.put("/proc/sys/kernel/osrelease", "6.1.0\n");
  root.make_folder("/lib/modules/6.1.0");
  root.put("/etc/modprobe.d/x.conf", "install acme-uvm /bin/false\nalias acme-modeset off\n");
  const auto error_of = [&](const char* name) {
    const Action action = action::kernel_module(name, {}, "");
    const auto outcome = kind(action).perform(action, live);
    return outcome ? std::string("it was loaded") : to_text(outcome.error());
  };
  EXPECT_THAT(error_of("acme-uvm"), HasSubstr("modprobe.d has the line `install acme_uvm /bin/false`"));
  EXPECT_THAT(error_of("acme-modeset"), HasSubstr("modprobe.d has the line `alias acme_modeset off`"));
  EXPECT_THAT(error_of("acme"), HasSubstr("run `depmod 6.1.0`"));
}

TEST(ModuleFailure, NamesTheHoldersOfAModuleInUse) {
  TempRoot root;
  root.make_folder("/sys/module/nvidia/holders/nvidia_uvm");
  root.make_folder("/sys/module/nvidia/holders/nvidia_modeset");
  root.put("/sys/module/nvidia/refcnt", "5\n");
  const auto host = *open_host({.root = root.folder(), .kernel_view = root.folder()});
  const Error error = unload_failure("nvidia", EAGAIN, *host);
  EXPECT_EQ(error.code, ErrorCode::busy);
  EXPECT_THAT(to_text(error), HasSubstr("held:  by the modules nvidia_modeset, nvidia_uvm\n"));
  EXPECT_THAT(to_text(error), HasSubstr("5 in all"));
}

// Before the fix, a program's text in /dev/kmsg could determine the reason and the remedy for a module that does not
// load.
TEST(KernelLog, HasWhatTheKernelWroteAndNothingOfPrograms) {
  TempRoot root;
  root.put("/dev/kmsg", "6,1,1,-;before\n");
  KernelLog log(root.dir());
  std::ofstream kmsg(root.folder() + "/dev/kmsg", std::ios::app);
  EXPECT_THAT(log.news(), ::testing::IsEmpty());
  kmsg << "12,2,2,-;nvidia: Lockdown: a program wrote that\n" << std::flush;
  EXPECT_THAT(log.news(), ::testing::IsEmpty());
  kmsg << "3,3,3,-;nvidia: version magic\n SUBSYSTEM=module\n" << std::flush;
  EXPECT_THAT(log.news(), ::testing::ElementsAre("nvidia: version magic"));
}

class ExecAction : public LiveActionTest {
 protected:
  void SetUp() override {
    machine.programs["is-on"] = [this](const auto&) { return ProcessOutput{on ? 0 : 1, {}, {}, false}; };
    machine.programs["turn-on"] = [this](const auto&) {
      on = works;
      return ProcessOutput{works ? 0 : 4, {}, works ? "" : "no power\n", false};
    };
    machine.programs["turn-off"] = [this](const auto&) {
      on = false;
      return ProcessOutput{};
    };
  }
  bool on = false;
  bool works = true;
  Action action =
      action::exec({.name = "persistence mode", .argv = {"turn-on"}, .check = {"is-on"}, .undo = {"turn-off"}});
};

TEST_F(ExecAction, RunsOnlyWhenTheCheckSaysSo) {
  EXPECT_EQ(live_check(action).standing, Standing::change);
  const Image image = live_apply(action);
  EXPECT_TRUE(on);
  EXPECT_EQ(live_check(action).standing, Standing::satisfied);
  EXPECT_EQ(kind(action).perform(action, live)->kind, Outcome::Kind::already_done);
  ASSERT_TRUE(kind(action).restore(action, image, live).ok());
  EXPECT_FALSE(on);
  ASSERT_TRUE(kind(action).restore(action, Image{{"held", true}}, live).ok());
}

TEST_F(ExecAction, AnEarlierStateIsNotUndone) {
  on = true;
  const Image image = *kind(action).capture(action, live);
  ASSERT_TRUE(kind(action).restore(action, image, live).ok());
  EXPECT_TRUE(on);
}

TEST_F(ExecAction, AFailureShowsTheProgramsOutput) {
  works = false;
  const auto done = kind(action).perform(action, live);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(to_text(done.error()), HasSubstr("status 4"));
  EXPECT_THAT(to_text(done.error()), HasSubstr("no power"));
}

TEST_F(ExecAction, IsBootWorkOfflineAndAConflictWithoutACheck) {
  EXPECT_EQ(check(action).standing, Standing::at_boot);
  EXPECT_EQ(check(action::exec({.name = "x", .argv = {"true"}})).standing, Standing::conflict);
  EXPECT_EQ(check(action::exec({.name = "x", .argv = {"a", "b"}, .check = {"c"}, .undo = {}})).diff,
            "runs:   a b\nunless: c\nundo:   nothing\n");
}

class CustomAction : public LiveActionTest {
 protected:
  void SetUp() override {
    live.custom_check = [this](const Action& asked) -> Result<bool> { return layout == asked.text("data"); };
    live.custom_apply = [this](const Action& asked) -> Result<Outcome> {
      if (busy) return Outcome::waiting("GPU 3 is in use", {"python3 (pid 7)"});
      layout = asked.text("data");
      return Outcome::done();
    };
  }
  std::string layout = "old";
  bool busy = false;
  Action action = action::custom({.name = "MIG layout of GPU 3", .data = "new", .inverse = "old"});
};

TEST_F(CustomAction, CallsCheckAndApplyOfItsComponent) {
  EXPECT_EQ(live_check(action).standing, Standing::change);
  const Image image = live_apply(action);
  EXPECT_EQ(live_check(action).standing, Standing::satisfied);
  ASSERT_TRUE(kind(action).restore(action, image, live).ok());
  EXPECT_EQ(layout, "old");
}

TEST_F(CustomAction, ReportsWaitingAndNamesHoldersWhenItCannotBeUndone) {
  busy = true;
  EXPECT_EQ(kind(action).perform(action, live)->kind, Outcome::Kind::waiting);
  const Status undone = kind(action).restore(action, Image{{"held", false}}, live);
  ASSERT_FALSE(undone.ok());
  EXPECT_THAT(to_text(undone.error()), HasSubstr("python3 (pid 7)"));
}

TEST_F(CustomAction, ThatStaysIsUndoneByAFailedApplyAndNotByARemoval) {
  const Action staying = action::custom({.name = "MIG layout of GPU 3",
                                         .data = "new",
                                         .inverse = "old",
                                         .irreversible = {},
                                         .summary = "GPU 3: old -> new",
                                         .stays = true});
  EXPECT_EQ(live_check(staying).summary, "GPU 3: old -> new");
  const Image image = live_apply(staying);
  EXPECT_EQ(kind(staying).removal(staying), "leave MIG layout of GPU 3 as it is");
  ASSERT_TRUE(kind(staying).take_away(staying, image, live).ok());
  EXPECT_EQ(layout, "new");
  ASSERT_TRUE(kind(staying).restore(staying, image, live).ok());
  EXPECT_EQ(layout, "old");
}

TEST_F(CustomAction, MayShowSeveralLines) {
  const Action drawn = action::custom(
      {.name = "x", .data = "new", .inverse = "old", .irreversible = {}, .summary = "GPU 3: old -> new\n|a|\n === \n"});
  EXPECT_EQ(live_check(drawn).summary, "GPU 3: old -> new");
  EXPECT_EQ(live_check(drawn).diff, "|a|\n === \n");
  EXPECT_EQ(live_check(action).diff, "");
}

TEST_F(CustomAction, WithoutAnInverseIsNotUndone) {
  const Action once = action::custom({.name = "x", .data = "new", .irreversible = "fuses are blown"});
  EXPECT_TRUE(kind(once).restore(once, Image{{"held", false}}, live).ok());
  EXPECT_EQ(layout, "old");
}

TEST_F(CustomAction, IsBootWorkWhereNoDevicesCanBeSeen) { EXPECT_EQ(check(action).standing, Standing::at_boot); }

class UdevTrigger : public LiveActionTest {};

TEST_F(UdevTrigger, ReadsTheRulesAgainAndAppliesThemToASubsystem) {
  EXPECT_EQ(Trigger("udev:drm").foresee(machine)->skipped, "this machine has no udev");
  root.put("/usr/bin/udevadm", "", 0755);
  std::vector<std::string> asked;
  machine.programs["udevadm"] = [&asked](const std::vector<std::string>& argv) {
    asked.push_back(argv.at(1) + " " + argv.back());
    return ProcessOutput{argv.at(1) == "settle" && asked.size() > 3 ? 1 : 0, {}, {}, false};
  };
  const auto done = Trigger("udev:drm").run(live);
  ASSERT_TRUE(done.ok()) << to_text(done.error());
  EXPECT_EQ(asked,
            (std::vector<std::string>{"control --reload", "trigger --subsystem-match=drm", "settle --timeout=60"}));
  EXPECT_FALSE(Trigger("udev:drm").run(live).ok()) << "udev did not come to an end";
}

}  // namespace
}  // namespace slipway::core
