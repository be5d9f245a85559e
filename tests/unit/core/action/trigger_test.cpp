// SPDX-License-Identifier: Apache-2.0
// Triggers in roots that are not live: real ldconfig and depmod, this machine's and the root's own.
#include "core/action/trigger/trigger.hpp"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "action_fixture.hpp"
#include "sandbox/host_program.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/tool.hpp"
#include "tests/unit/sandbox/real_programs.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kNoTimes = TempRoot::Times::none;

bool sandbox_works() {
  sandbox::Sandbox request;
  request.root = "/";
  request.read_only = true;
  request.argv = {"true"};
  request.environment = sandbox::sandbox_environment();
  return sandbox::run_in_sandbox(request).ok();
}

class TriggerTest : public ActionTest {
 protected:
  TriggerRun run(const std::string& trigger) {
    const auto done = Trigger(trigger).run(context);
    EXPECT_TRUE(done.ok()) << trigger << ": " << (done ? "" : to_text(done.error()));
    EXPECT_TRUE(fs.settle_directory_times().ok());
    return done.value_or(TriggerRun{});
  }
  /// Adds a library in a folder that the linker is configured to search.
  static void put_library(const TempRoot& tree) {
    tree.put("/etc/ld.so.conf", "/opt/lib\n");
    test::copy_in(tree, "/lib/x86_64-linux-gnu/libm.so.6", "/opt/lib/libm.so.6");
  }
  static std::string cached(const TempRoot& tree) { return test::output_of("ldconfig -r " + tree.folder() + " -p"); }
};

TEST_F(TriggerTest, NamesAreChecked) {
  for (const std::string good : {"sysusers", "udev:drm", "ldconfig", "depmod:6.1.0-50-amd64", "initramfs:6.6.0+x",
                                 "daemon-reload", "restart:containerd.service", "reload:a@b.service"})
    EXPECT_TRUE(Trigger(good).check().ok()) << good;
  for (const std::string bad : {"", "reboot", "depmod", "depmod:", "depmod:../../etc", "udev", "udev:--all",
                                "sysusers:x", "restart:--all", "restart:a;b", "ldconfig:x", "daemon-reload:"})
    EXPECT_FALSE(Trigger(bad).check().ok()) << bad;
  EXPECT_FALSE(Trigger("depmod:-a").run(context).ok());
}

TEST_F(TriggerTest, AnnouncesItselfAndTheInterruptedUnits) {
  for (const std::string text : {"sysusers", "udev:drm", "ldconfig", "depmod:6.1", "initramfs:6.1", "daemon-reload",
                                 "restart:a.service", "reload:a.service", "reboot", "depmod:-a"})
    EXPECT_EQ(Trigger(text).text(), text);
  for (const std::string early : {"sysusers", "udev:drm", "ldconfig", "depmod:6.1", "daemon-reload"})
    EXPECT_TRUE(Trigger(early).precedes_activation()) << early;
  for (const std::string late : {"initramfs:6.1", "restart:a.service", "reload:a.service"})
    EXPECT_FALSE(Trigger(late).precedes_activation()) << late;
  EXPECT_TRUE(Trigger("reload:a.service").interrupts());
  EXPECT_FALSE(Trigger("daemon-reload").interrupts());
  EXPECT_EQ(Trigger("restart:a.service"), Trigger(Trigger::Kind::restart, "a.service"));
}

TEST_F(TriggerTest, InAnEmptyRootIsSkippedWithAReason) {
  EXPECT_THAT(run("ldconfig").why, HasSubstr("no /etc"));
  EXPECT_THAT(run("depmod:6.1").why, HasSubstr("no /lib/modules/6.1"));
  EXPECT_THAT(run("initramfs:6.1").why, HasSubstr("neither update-initramfs nor dracut"));
  EXPECT_THAT(run("udev:drm").why, HasSubstr("not running"));
  EXPECT_THAT(run("daemon-reload").why, HasSubstr("not running"));
  EXPECT_THAT(run("restart:containerd.service").why, HasSubstr("not running"));
  EXPECT_THAT(run("reload:containerd.service").why, HasSubstr("not running"));
  EXPECT_EQ(root.listing(), "");
}

/// The first bytes of a program for IBM Z.
std::string foreign_program() {
  std::string head("\177ELF\2\2\1", 7);
  head.resize(64);
  head[17] = 3;
  head[19] = 22;  // EM_S390
  return head;
}

TEST_F(TriggerTest, OfAForeignRootAreRefusedWhereItsOwnToolsWouldHaveToRun) {
  if (std::filesystem::exists("/proc/sys/fs/binfmt_misc/qemu-s390x")) GTEST_SKIP() << "its programs run here";
  root.put("/bin/sh", foreign_program(), 0755);
  EXPECT_THAT(Trigger("ldconfig").foresee(*host).value().skipped, HasSubstr("no /etc"));
  root.make_folder("/etc");
  const auto ldconfig = Trigger("ldconfig").foresee(*host);
  ASSERT_FALSE(ldconfig.ok());
  EXPECT_EQ(ldconfig.error().code, ErrorCode::unsupported);
  EXPECT_THAT(ldconfig.error().what, HasSubstr("for s390x, and its own ldconfig would have to run"));
  EXPECT_TRUE(Trigger("initramfs:6.1").foresee(*host).ok()) << "there is no initrd to make anew";
  root.put("/usr/sbin/update-initramfs", foreign_program(), 0755);
  root.put("/boot/initrd.img-6.1", "old");
  EXPECT_THAT(Trigger("initramfs:6.1").foresee(*host).error().what, HasSubstr("update-initramfs"));
  EXPECT_TRUE(Trigger("depmod:6.1").foresee(*host).ok()) << "this machine's depmod can do that";
  EXPECT_TRUE(Trigger("restart:x.service").foresee(*host).ok());
}

TEST_F(TriggerTest, ArePredictedWithTheirProgram) {
  EXPECT_EQ(Trigger("depmod:6.1").foresee(*host).value().tool, "depmod of this machine");
  EXPECT_EQ(Trigger("ldconfig").foresee(*host).value().tool, "ldconfig of this machine");
  root.put("/usr/sbin/depmod", "", 0755);
  EXPECT_EQ(Trigger("depmod:6.1").foresee(*host).value().tool, "the root's own depmod");
  EXPECT_THAT(Trigger("initramfs:6.1").foresee(*host).value().skipped,
              HasSubstr("neither update-initramfs nor dracut"));
  root.put("/boot/initrd.img-6.1", "old");
  EXPECT_THAT(Trigger("initramfs:6.1").foresee(*host).value().skipped, HasSubstr("initrd.img-6.1 stays as it is"));
  EXPECT_EQ(Trigger("restart:x.service").foresee(*host).value().tool, "");
  EXPECT_FALSE(Trigger("depmod:-a").foresee(*host).ok());
}

TEST_F(TriggerTest, OfTheRootsOwnProgramsAreCheckedBeforehand) {
  root.put("/usr/sbin/update-initramfs", "", 0755);
  root.put("/boot/initrd.img-6.1", "old");
  const auto foreseen = Trigger("initramfs:6.1").foresee(*host);
  if (sandbox_works()) {
    EXPECT_EQ(foreseen.value().tool, "the root's own update-initramfs");
    EXPECT_EQ(root.content("/boot/initrd.img-6.1"), "old") << "it was only looked for";
  } else {
    ASSERT_FALSE(foreseen.ok());
    EXPECT_EQ(foreseen.error().code, ErrorCode::unsupported);
    EXPECT_THAT(foreseen.error().what, HasSubstr("/boot/initrd.img-6.1 has to be made anew"));
  }
}

TEST(Trigger, OfALiveMachineWithoutTheProgramIsRefusedBeforehand) {
  const TempRoot root;
  const auto host = *open_host({.root = root.folder(), .live = true});
  const auto depmod = Trigger("depmod:6.1").foresee(*host);
  ASSERT_FALSE(depmod.ok());
  EXPECT_EQ(depmod.error().code, ErrorCode::not_found);
  EXPECT_THAT(depmod.error().what, HasSubstr("the machine at " + root.folder() + " has no depmod"));
  EXPECT_THAT(Trigger("ldconfig").foresee(*host).value().skipped, HasSubstr("no linker of glibc"));
  root.put("/lib64/ld-linux-x86-64.so.2", "");
  EXPECT_THAT(Trigger("ldconfig").foresee(*host).error().what, HasSubstr("has no ldconfig"));
  root.make_folder("/run/systemd/system");
  EXPECT_THAT(Trigger("restart:x.service").foresee(*host).error().what, HasSubstr("has no systemctl"));
  root.put("/usr/local/sbin/depmod", "", 0755);
  EXPECT_EQ(Trigger("depmod:6.1").foresee(*host).value().tool, "depmod");
}

TEST(RunsHere, IsTrueForTheMachineItsSmallerSelfAndWhatQemuRunsInAnyRoot) {
  const TempRoot tree;
  tree.put("/qemu-aarch64", "enabled\ninterpreter /usr/bin/qemu-aarch64-static\nflags: OCF\noffset 0\n");
  tree.put("/qemu-riscv64", "enabled\ninterpreter /usr/bin/qemu-riscv64-static\nflags: OC\noffset 0\n");
  tree.put("/qemu-ppc64le", "disabled\ninterpreter /usr/bin/qemu-ppc64le-static\nflags: F\noffset 0\n");
  EXPECT_TRUE(sandbox::runs_here("x86_64", "x86_64", tree.folder()));
  EXPECT_TRUE(sandbox::runs_here("i686", "x86_64", tree.folder()));
  EXPECT_FALSE(sandbox::runs_here("x86_64", "i686", tree.folder()));
  EXPECT_TRUE(sandbox::runs_here("aarch64", "x86_64", tree.folder()));
  EXPECT_FALSE(sandbox::runs_here("riscv64", "x86_64", tree.folder())) << "the emulator is not in the root";
  EXPECT_FALSE(sandbox::runs_here("ppc64le", "x86_64", tree.folder()));
  EXPECT_FALSE(sandbox::runs_here("s390x", "x86_64", tree.folder()));
}

TEST_F(TriggerTest, LdconfigOfThisMachineServesARootThatHasNone) {
  put_library(root);
  const TriggerRun done = run("ldconfig");
  EXPECT_TRUE(done.done);
  EXPECT_THAT(done.text, HasSubstr("-r " + root.folder()));
  EXPECT_FALSE(root.has("/var/cache/ldconfig"));
  EXPECT_EQ(root.info("/etc/ld.so.cache").st_mtim.tv_sec, kEpoch);
  EXPECT_EQ(root.info("/etc").st_mtim.tv_sec, kEpoch);
  EXPECT_THAT(cached(root), HasSubstr("libm.so.6"));
}

TEST_F(TriggerTest, TheRootsOwnLdconfigGivesTheSameCacheInEveryCopy) {
  if (!sandbox_works()) GTEST_SKIP() << "namespaces are not allowed here";
  TempRoot second;
  RootFs other(second.dir(), kEpoch);
  const auto other_host = *open_host({.root = second.folder()});
  ActionContext elsewhere{other, *other_host, stager, {}, {}, {}, {}};
  for (const TempRoot* tree : {&root, &second}) {
    test::install_programs(*tree, {"/usr/sbin/ldconfig"});
    put_library(*tree);
    tree->put("/var/cache/ldconfig/aux-cache", "as it was");
  }
  EXPECT_THAT(run("ldconfig").text, HasSubstr("chroot " + root.folder()));
  ASSERT_TRUE(Trigger("ldconfig").run(elsewhere).ok());
  EXPECT_EQ(root.content("/etc/ld.so.cache"), second.content("/etc/ld.so.cache"));
  EXPECT_EQ(root.content("/var/cache/ldconfig/aux-cache"), "as it was");
  EXPECT_THAT(cached(root), HasSubstr("/opt/lib/libm.so.6"));
}

TEST_F(TriggerTest, LinksThatLdconfigMakesGetTheEpochToo) {
  root.put("/etc/ld.so.conf", "/opt/lib\n");
  root.make_folder("/opt/lib");
  const std::string make =
      "gcc -shared -Wl,-soname,libours.so.1 -o " + root.at("/opt/lib/libours.so.1.2") + " -x c /dev/null";
  ASSERT_EQ(std::system(make.c_str()), 0);
  run("ldconfig");
  EXPECT_EQ(root.info("/opt/lib/libours.so.1").st_mtim.tv_sec, kEpoch);
  EXPECT_EQ(root.info("/opt/lib").st_mtim.tv_sec, kEpoch);
}

TEST_F(TriggerTest, ALdconfigThatFailsIsAnErrorWithItsOutput) {
  root.put("/etc/ld.so.conf", "/opt/lib\n");
  root.make_folder("/etc/ld.so.cache");
  const auto done = Trigger("ldconfig").run(context);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(to_text(done.error()), HasSubstr("ld.so.cache"));
}

TEST_F(TriggerTest, DepmodListsTheModulesAndTwoCopiesAreEqual) {
  TempRoot second;
  RootFs other(second.dir(), kEpoch);
  const auto other_host = *open_host({.root = second.folder()});
  ActionContext elsewhere{other, *other_host, stager, {}, {}, {}, {}};
  const std::string folder = "/lib/modules/6.1/updates/";
  for (const std::string name : {"a", "b", "c"})
    test::make_module(root, folder + name + ".ko", "\"alias=pci:v000010DEd*" + name + "\"");
  for (const std::string name : {"c", "a", "b"})  // created in another order in the folder
    test::copy_in(second, root.at(folder + name + ".ko"), folder + name + ".ko");
  EXPECT_TRUE(run("depmod:6.1").done);
  ASSERT_TRUE(Trigger("depmod:6.1").run(elsewhere).ok());
  EXPECT_THAT(root.content("/lib/modules/6.1/modules.alias"), HasSubstr("alias pci:v000010DEd*a a"));
  for (const std::string& file : Trigger("depmod:6.1").products(*host)) {
    if (file.ends_with(".weakdep") && !root.has(file)) continue;  // from kmod 33 on
    EXPECT_EQ(root.content(file), second.content(file)) << file;
    EXPECT_EQ(root.info(file).st_mtim.tv_sec, kEpoch) << file;
  }
}

// Before the fix, unfinished lists stayed for good after a kill, and so did the folder after a removal.
TEST_F(TriggerTest, DepmodRemovesTheUnfinishedListsOfOneThatWasKilled) {
  test::make_module(root, "/lib/modules/6.1/updates/a.ko", "\"alias=pci:v000010DEd*\"");
  const std::vector<std::string> unfinished{"modules.dep.2.123456.1700000000", "modules.devname.2.1.1700000000",
                                            "modules.symbols.bin.4194304.99.1700000000"};
  const std::vector<std::string> others{"modules.order", "modules.dep.orig", "modules.dep.2",
                                        "modules.mine.2.1.1700000000", "modules.dep.2.x.1700000000"};
  for (const auto& list : {unfinished, others})
    for (const std::string& name : list) root.put("/lib/modules/6.1/" + name, "");
  EXPECT_TRUE(run("depmod:6.1").done);
  for (const std::string& name : unfinished) EXPECT_FALSE(root.has("/lib/modules/6.1/" + name)) << name;
  for (const std::string& name : others) EXPECT_TRUE(root.has("/lib/modules/6.1/" + name)) << name;
}

// Before the fix, a folder of such a name, which depmod never creates, kept the trigger from ending.
TEST_F(TriggerTest, DepmodLeavesAFolderOfSuchANameAlone) {
  test::make_module(root, "/lib/modules/6.1/updates/a.ko", "\"alias=pci:v000010DEd*\"");
  root.put("/lib/modules/6.1/modules.symbols.7.8.9/sub", "");
  EXPECT_TRUE(run("depmod:6.1").done);
  EXPECT_TRUE(root.has("/lib/modules/6.1/modules.symbols.7.8.9/sub"));
}

TEST_F(TriggerTest, TheRootsOwnDepmodFollowsItsAbsoluteLinks) {
  if (!sandbox_works()) GTEST_SKIP() << "namespaces are not allowed here";
  test::install_programs(root, {"/usr/bin/kmod"});
  root.link("/usr/sbin/depmod", "../bin/kmod");
  test::make_module(root, "/opt/store/ours.ko", "\"alias=pci:v000010DEd*\"");
  root.make_folder("/usr/lib/modules/6.1");
  root.link("/usr/lib/modules/6.1/updates", "/opt/store");
  EXPECT_THAT(run("depmod:6.1").text, HasSubstr("chroot"));
  EXPECT_THAT(root.content("/lib/modules/6.1/modules.dep"), HasSubstr("updates/ours.ko:"));
}

// Before the fix, depmod -b followed an image's link to a folder of the building machine, and wrote its lists there.
TEST_F(TriggerTest, DepmodOfThisMachineDoesNotFollowARootsLinksOutOfIt) {
  if (::geteuid() != 0 || !sandbox_works()) GTEST_SKIP() << "this machine's runs as the user can";
  const TempRoot machine;
  machine.put("/6.1/modules.dep", "the machine's own");
  root.link("/lib/modules/6.1", machine.at("/6.1"));
  root.make_folder(machine.at("/6.1"));  // so that the link is not dangling in the root's own view
  (void)Trigger("depmod:6.1").run(context);
  EXPECT_EQ(machine.content("/6.1/modules.dep"), "the machine's own");
  EXPECT_FALSE(machine.has("/6.1/modules.dep.bin"));
}

TEST_F(TriggerTest, DepmodOfThisMachineFollowsARootsAbsoluteLinksInIt) {
  if (::geteuid() != 0 || !sandbox_works()) GTEST_SKIP() << "this machine's runs as the user can";
  test::make_module(root, "/opt/modules/updates/ours.ko", "\"alias=pci:v000010DEd*\"");
  root.make_folder("/usr/lib/modules");
  root.link("/lib", "usr/lib");
  root.link("/usr/lib/modules/6.1", "/opt/modules");
  EXPECT_EQ(Trigger("depmod:6.1").foresee(*host).value().tool, "depmod of this machine");
  EXPECT_TRUE(run("depmod:6.1").done);
  EXPECT_THAT(root.content("/opt/modules/modules.dep"), HasSubstr("updates/ours.ko:"));
}

// Before the fix, with a link in it, a file that only root may read was copied into the image, as modules.builtin.bin.
TEST_F(TriggerTest, DepmodOfThisMachineReadsNoFileOfTheMachineThroughARootsLinks) {
  if (::geteuid() != 0 || !sandbox_works()) GTEST_SKIP() << "this machine's runs as the user can";
  const TempRoot machine;
  machine.put("/shadow", "kernel/secret-of-the-machine.ko\n", 0600);
  root.make_folder("/lib/modules/6.1");
  root.link("/lib/modules/6.1/modules.builtin", machine.at("/shadow"));
  EXPECT_FALSE(Trigger("depmod:6.1").run(context).ok()) << "in the root, that link leads nowhere";
  EXPECT_THAT(root.content("/lib/modules/6.1/modules.builtin.bin"), Not(HasSubstr("ecret_of_the_machine")));
  test::output_of("depmod -a -b " + root.folder() + " 6.1 2>&1");
  EXPECT_THAT(root.content("/lib/modules/6.1/modules.builtin.bin"), HasSubstr("ecret_of_the_machine"))
      << "the attack itself does not work";
}

/// Runs in a child, as a user other than root. @return the result of `act`
int as_ordinary_user(const TempRoot& root, const std::function<int()>& act) {
  constexpr uid_t kNobody = 65534;
  test::output_of("chown -R 65534:65534 " + root.folder());
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(20);
    ::_exit(act());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 21;
}

// Before the fix, a plan required the sandbox, although an ordinary user's depmod runs without it.
TEST_F(TriggerTest, AnOrdinaryUserPlansAndListsModulesOfTheirOwnRoot) {
  root.make_folder("/lib/modules/6.1");
  EXPECT_EQ(as_ordinary_user(root,
                             [this] {
                               const auto foreseen = Trigger("depmod:6.1").foresee(*host);
                               if (!foreseen) std::fputs(to_text(foreseen.error()).c_str(), stderr);
                               if (!foreseen || foreseen->tool != "depmod of this machine") return 1;
                               return Trigger("depmod:6.1").run(context).ok() ? 0 : 2;
                             }),
            0);
}

TEST_F(TriggerTest, AnOrdinaryUsersDepmodIsKeptFromARootsAbsoluteLinks) {
  const TempRoot machine;
  machine.put("/builtin", "kernel/secret.ko\n");
  ::chmod(machine.folder().c_str(), 0755);
  root.make_folder("/lib/modules/6.1");
  root.link("/lib/modules/6.1/build", "/usr/src/linux");  // as in every distribution
  const auto foresee = [this] {
    const auto foreseen = Trigger("depmod:6.1").foresee(*host);
    return foreseen ? 0 : static_cast<int>(foreseen.error().code == ErrorCode::invalid);
  };
  EXPECT_EQ(as_ordinary_user(root, foresee), 0);
  root.link("/lib/modules/6.1/modules.builtin", machine.at("/builtin"));
  EXPECT_EQ(as_ordinary_user(root, foresee), 1);
}

// Also with run_beside(), which cannot enter the root and has to resolve the root's links.
TEST_F(TriggerTest, LdconfigOfThisMachineMakesNoLinkOutsideTheRoot) {
  const TempRoot machine;
  test::copy_in(machine, "/lib/x86_64-linux-gnu/libm.so.6", "/lib/libm.so.6.1");
  put_library(root);
  root.put("/etc/ld.so.conf", "/opt/lib\n/opt/out\n");
  root.link("/opt/out", machine.at("/lib"));
  EXPECT_THAT(run("ldconfig").text, HasSubstr("ldconfig -r " + root.folder() + " -v"));
  EXPECT_FALSE(machine.has("/lib/libm.so.6")) << "ldconfig made its link on the machine";
  EXPECT_THAT(cached(root), HasSubstr("/opt/lib/libm.so.6"));
  EXPECT_THAT(cached(root), Not(HasSubstr("/opt/out")));
  // Without a root of its own it does follow the link.
  test::output_of("ldconfig -n " + root.at("/opt/out"));
  EXPECT_TRUE(machine.has("/lib/libm.so.6")) << "the attack itself does not work";
}

TEST_F(TriggerTest, ProgramsOfThisMachineSeeTheRootAlone) {
  if (::geteuid() != 0 || !sandbox_works()) GTEST_SKIP() << "this machine's run as the user can";
  root.put("/usr/file", "");
  root.link("/link", "usr");
  const auto end = sandbox::run_beside(fs, {"ls", "-a", "/", "/link/file", "/etc"}, "-d", std::chrono::seconds(60));
  ASSERT_TRUE(end.ok()) << to_text(end.error());
  EXPECT_THAT(end->output, HasSubstr("/link/file\n"));
  EXPECT_THAT(end->output, HasSubstr("cannot access '/etc'"));
  EXPECT_THAT(end->output, HasSubstr(".slipway\n"));
  EXPECT_EQ(end->command, "ls -d " + root.folder() + " -a / /link/file /etc");
  const auto written =
      sandbox::run_beside(fs, {"touch", "/usr/other", "/.slipway/touch", "/new"}, "-d", std::chrono::seconds(60));
  ASSERT_TRUE(written.ok()) << to_text(written.error());
  EXPECT_TRUE(root.has("/usr/other"));
  EXPECT_THAT(written->output, HasSubstr("'/.slipway/touch': Read-only file system"));
  EXPECT_THAT(written->output, HasSubstr("'/new': Read-only file system"));
  EXPECT_EQ(root.listing().find(".slipway"), std::string::npos);
}

/// Creates a root with modules whose linker preloads a library that writes the file /opt/loaded.
void preload_library(const TempRoot& root) {
  root.make_folder("/lib/modules/6.1");
  root.put("/opt/preload", "/opt/library.so\n");
  std::filesystem::copy_file(SLIPWAY_TEST_PRELOADED, root.at("/opt/library.so"));
}

/// Runs this machine's depmod with all of the root visible, unchanged.
Result<sandbox::SandboxEnd> run_depmod_with_all_of(const TempRoot& root) {
  SLIPWAY_TRY(program, sandbox::find_host_program("depmod"));
  sandbox::Sandbox request;
  request.root = root.folder();
  request.tools = std::move(program.files);
  request.argv = std::move(program.start);
  request.argv.insert(request.argv.end(), {"-a", "6.1"});
  request.environment = sandbox::sandbox_environment();
  return sandbox::run_in_sandbox(request);
}

TEST_F(TriggerTest, DepmodOfThisMachineLoadsNoLibraryThatARootPreloads) {
  if (::geteuid() != 0 || !sandbox_works()) GTEST_SKIP() << "this machine's runs as the user can";
  preload_library(root);
  const std::function<void()> kinds[] = {[this] { root.put("/etc/ld.so.preload", "/opt/library.so\n"); },
                                         [this] { root.link("/etc/ld.so.preload", "/opt/preload"); }};
  for (const auto& put : kinds) {
    std::filesystem::remove(root.at("/etc/ld.so.preload"));
    put();
    EXPECT_TRUE(run_depmod_with_all_of(root).ok());
    EXPECT_TRUE(std::filesystem::remove(root.at("/opt/loaded"))) << "the attack itself does not work";
    EXPECT_TRUE(run("depmod:6.1").done);
    EXPECT_FALSE(root.has("/opt/loaded"));
  }
  EXPECT_EQ(root.content("/opt/preload"), "/opt/library.so\n") << "only this machine's programs do not see it";
}

// depmod prints "ERROR: fstatat" for a dangling link, leaves the modules out, and ends with status 0.
TEST_F(TriggerTest, ADepmodThatComplainsIsAnErrorWhateverItsStatus) {
  root.make_folder("/lib/modules/6.1");
  root.link("/lib/modules/6.1/updates", "/nowhere/at/all");
  const auto done = Trigger("depmod:6.1").run(context);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(to_text(done.error()), HasSubstr("updates"));
}

// Before the fix, the reason in the error was "ended with status 0".
TEST_F(TriggerTest, ADepmodThatCannotReadAModuleNamesIt) {
  root.put("/lib/modules/6.1/extra/other.ko", "ten bytes.");
  const auto done = Trigger("depmod:6.1").run(context);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().what, HasSubstr("/lib/modules/6.1/extra/other.ko"));
  EXPECT_THAT(done.error().what, Not(HasSubstr("status 0")));
  EXPECT_THAT(done.error().next, HasSubstr("the other modules are listed"));
}

TEST(TriggerProducts, AreWhatTheToolsWrite) {
  TempRoot root;
  const auto host = *open_host({.root = root.folder()});
  EXPECT_THAT(Trigger("ldconfig").products(*host), ::testing::ElementsAre("/etc/ld.so.cache"));
  EXPECT_THAT(Trigger("depmod:6.1").products(*host), ::testing::Contains("/lib/modules/6.1/modules.dep.bin"));
  // kmod 33 writes it too; before the fix, a removal left it behind.
  EXPECT_THAT(Trigger("depmod:6.1").products(*host), ::testing::Contains("/lib/modules/6.1/modules.weakdep"));
  EXPECT_TRUE(Trigger("initramfs:6.1").products(*host).empty());
}

TEST_F(TriggerTest, SysusersMakesTheUsersAndGroupsOfARoot) {
  if (!sandbox::machine_has_tool("systemd-sysusers")) GTEST_SKIP() << "this machine has no systemd-sysusers";
  root.make_folder("/etc");
  root.put("/usr/lib/sysusers.d/acme.conf", "g acme 987 -\n");
  ASSERT_TRUE(Trigger("sysusers").foresee(*host).ok());
  EXPECT_TRUE(run("sysusers").done);
  EXPECT_THAT(root.content("/etc/group"), HasSubstr("acme:x:987:"));
  const std::string before = root.content("/etc/group");
  EXPECT_TRUE(run("sysusers").done);
  EXPECT_EQ(root.content("/etc/group"), before);
}

}  // namespace
}  // namespace slipway::core
