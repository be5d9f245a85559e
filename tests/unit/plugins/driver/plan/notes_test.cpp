// SPDX-License-Identifier: Apache-2.0
// A plan's notes about this machine, and its refusals because of it.
#include <gmock/gmock.h>

#include "driver/plan/plan.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestHost;

constexpr const char* kVersion = "535.261.03";

Settings settings_with(const ParameterValues& parameters = {}) {
  Settings settings;
  settings.load = {"nvidia", "nvidia-uvm", "nvidia-modeset"};
  settings.parameters = parameters;
  return settings;
}

/// As in the core: facts go through JSON.
HostFacts facts_of(const Host& host, const Settings& settings) {
  return host_facts_from(*facts_from_json(slipway::to_json(to_facts(read_host_facts(host, {}, settings.parameters)))));
}

std::vector<std::string> notes_of(const Host& host, const Settings& settings) {
  Plan plan;
  add_notes(settings, facts_of(host, settings), kVersion, plan);
  return plan.notes();
}

TEST(PlanModprobe, RefusesLinesThatKeepAModuleFromBeingLoaded) {
  for (const auto& [path, line] : {std::pair("/etc/modprobe.d/x.conf", "install nvidia /bin/false"),
                                   std::pair("/usr/lib/modprobe.d/x.conf", "install nvidia-uvm /bin/true"),
                                   std::pair("/run/modprobe.d/x.conf", "alias nvidia off"),
                                   std::pair("/usr/lib/modprobe.d/x.conf", "alias nvidia-modeset off")}) {
    TestHost host;
    host.root().file(path, std::string("# a comment\n") + line + "\n");
    for (const auto& on : {host.live(), host.offline()}) {
      const Status status = check_modprobe(settings_with(), facts_of(*on, settings_with()));
      ASSERT_FALSE(status.ok()) << line;
      EXPECT_THAT(status.error().what, HasSubstr(line));
      EXPECT_EQ(status.error().where, std::string(path) + ":2");
    }
  }
}

TEST(PlanModprobe, RefusesAModuleThatTheRunningKernelForbids) {
  TestHost host;
  host.view().file("/proc/cmdline", "ro module_blacklist=nvidia\n");
  const Status status = check_modprobe(settings_with(), facts_of(*host.live(), settings_with()));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(to_text(status.error()),
            "error: the module nvidia cannot be loaded: 'module_blacklist=nvidia'\n  at:    /proc/cmdline\n  do:    "
            "remove the name from module_blacklist= in the boot loader's configuration, then reboot\n");
}

TEST(PlanModprobe, LeavesModulesAloneThatAreNotToBeLoaded) {
  TestHost host;
  host.root().file("/etc/modprobe.d/x.conf",
                   "install nvidia-drm /bin/false\ninstall nvidia /sbin/modprobe -i nvidia\n");
  EXPECT_TRUE(check_modprobe(settings_with(), facts_of(*host.live(), settings_with())).ok());
  EXPECT_THAT(notes_of(*host.live(), settings_with()), IsEmpty());
}

TEST(PlanNotes, SayThatABlacklistDoesNotAffectSlipway) {
  TestHost host;
  host.root().file("/etc/modprobe.d/x.conf", "blacklist nvidia\nblacklist nvidia_uvm\nblacklist nvidia-drm\n");
  EXPECT_TRUE(check_modprobe(settings_with(), facts_of(*host.live(), settings_with())).ok());
  EXPECT_THAT(notes_of(*host.live(), settings_with()),
              ElementsAre(HasSubstr("/etc/modprobe.d/x.conf:1: 'blacklist nvidia' keeps udev"),
                          HasSubstr("/etc/modprobe.d/x.conf:2: 'blacklist nvidia-uvm' keeps udev")));
}

TEST(PlanNotes, NameALaterLineThatGivesAParameterAnotherValue) {
  TestHost host;
  host.root().file("/etc/modprobe.d/zz-site.conf", "options nvidia NVreg_RestrictProfilingToAdminUsers=1\n");
  const auto wants = [&](int value) {
    return notes_of(*host.offline(),
                    settings_with({{"nvidia", {{"NVreg_RestrictProfilingToAdminUsers", std::to_string(value)}}}}));
  };
  EXPECT_THAT(wants(0), ElementsAre("/etc/modprobe.d/zz-site.conf:1 sets NVreg_RestrictProfilingToAdminUsers of nvidia "
                                    "to 1 later, and the last value is used: the spec's 0 has no effect"));
  EXPECT_THAT(wants(1), IsEmpty());
  host.root().file("/etc/modprobe.d/zz-site.conf", "");
  host.root().file("/etc/modprobe.d/a-site.conf", "options nvidia NVreg_RestrictProfilingToAdminUsers=1\n");
  EXPECT_THAT(wants(0), IsEmpty()) << "it comes before slipway's";
}

TEST(PlanNotes, SayThatAParameterTakesEffectAtTheNextLoad) {
  TestHost host;
  host.gpu("0000:1b:00.0", 0x2330, "nvidia").loaded(kVersion, {"nvidia"});
  host.view().file("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\nEnableMSI: 1\n");
  const auto settings =
      settings_with({{"nvidia", {{"NVreg_RestrictProfilingToAdminUsers", "0"}, {"NVreg_EnableMSI", "1"}}}});
  EXPECT_THAT(notes_of(*host.live(), settings),
              ElementsAre("nvidia is loaded with NVreg_RestrictProfilingToAdminUsers=1; 0 takes effect when the module "
                          "is loaded next, at the latest after a reboot"));
  host.loaded("470.256.02", {"nvidia"});
  EXPECT_THAT(notes_of(*host.live(), settings), IsEmpty()) << "the module is replaced, and so is the parameter";
}

TEST(PlanNotes, NameTheFabricManagerThatNvSwitchesNeed) {
  TestHost host;
  host.pci("0000:05:00.0", 0x10de, 0x22a3, 0x068000);
  const std::string need = "the NVSwitches of this machine need NVIDIA's Fabric Manager 535.261.03, ";
  EXPECT_THAT(notes_of(*host.live(), settings_with()), ElementsAre(HasSubstr(need + "and none is installed: install")));
  host.root().file("/usr/bin/nv-fabricmanager", "");
  EXPECT_THAT(notes_of(*host.live(), settings_with()),
              ElementsAre(HasSubstr(need + "and the version of /usr/bin/nv-fabricmanager cannot be told")));
  host.root().file("/var/lib/dpkg/status",
                   "Package: nvidia-fabricmanager-550\nStatus: install ok installed\nVersion: 550.127.05-0ubuntu1\n\n");
  EXPECT_THAT(notes_of(*host.live(), settings_with()),
              ElementsAre(HasSubstr(need + "and 550.127.05 is installed (nvidia-fabricmanager-550)")));
  host.root().file("/var/lib/dpkg/status",
                   "Package: nvidia-fabricmanager\nStatus: install ok installed\nVersion: 535.261.03-1\n\n");
  EXPECT_THAT(notes_of(*host.live(), settings_with()), IsEmpty());
}

}  // namespace
}  // namespace slipway::driver
