// SPDX-License-Identifier: Apache-2.0
// Runs real programs of this machine's "/" in a sandbox; skipped where namespaces are not allowed.
#include "sandbox/sandbox.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::sandbox {
namespace {

using test::TempRoot;
using ::testing::HasSubstr;
using ::testing::Not;

class SandboxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request.root = "/";
    request.read_only = true;
    request.environment = sandbox_environment();
    request.on_output = [this](std::string_view text) { output += text; };
    request.argv = {"true"};
    const auto tried = run_in_sandbox(request);
    if (!tried && tried.error().code == ErrorCode::unsupported) GTEST_SKIP() << tried.error().what;
  }

  int shell(const std::string& script) {
    output.clear();
    request.argv = {"sh", "-c", script};
    const auto end = run_in_sandbox(request);
    EXPECT_TRUE(end.ok()) << to_text(end.error());
    return end ? end->exit_status : -1;
  }

  Sandbox request;
  std::string output;
};

TEST_F(SandboxTest, RunsAProgramAndGivesItsOutputAndStatus) {
  EXPECT_EQ(shell("echo out; echo err >&2; exit 7"), 7);
  EXPECT_EQ(output, "out\nerr\n");
  EXPECT_EQ(shell("kill -9 $$"), 128 + 9);
}

TEST_F(SandboxTest, RunsNothingOfTheRootDuringPreparation) {
  request.prepare_only = true;
  EXPECT_EQ(shell("echo the root took over; exit 7"), 0);
  EXPECT_EQ(output, "");
}

TEST_F(SandboxTest, NothingOfTheRootCanBeWrittenWhenItIsReadOnly) {
  EXPECT_NE(shell("touch /etc/slipway-was-here"), 0);
  EXPECT_THAT(output, HasSubstr("Read-only file system"));
  EXPECT_FALSE(std::filesystem::exists("/etc/slipway-was-here"));
  EXPECT_NE(shell("mount -o remount,rw /"), 0);
}

TEST_F(SandboxTest, WhatIsWrittenInAWritableRootStays) {
  TempRoot root;
  for (const std::string folder : {"/usr", "/etc", "/tmp", "/proc", "/dev"}) root.make_folder(folder);
  for (const std::string name : {"bin", "lib", "lib64"}) root.link("/" + name, "usr/" + name);
  request.root = root.folder();
  request.read_only = false;
  request.binds = {{"/usr", "/usr", true}};
  EXPECT_EQ(shell("echo text > /etc/made; echo gone > /tmp/scratch; umask"), 0) << output;
  EXPECT_EQ(root.content("/etc/made"), "text\n");
  EXPECT_FALSE(root.has("/tmp/scratch"));
  EXPECT_THAT(output, HasSubstr("022"));
}

TEST_F(SandboxTest, SaysThatAProgramIsForAnotherProcessor) {
  if (std::filesystem::exists("/proc/sys/fs/binfmt_misc/qemu-s390x")) GTEST_SKIP() << "its programs run here";
  TempRoot root;
  for (const std::string folder : {"/usr/bin", "/etc", "/tmp", "/proc", "/dev"}) root.make_folder(folder);
  std::string program("\177ELF\2\2\1", 7);  // of IBM Z
  program.resize(64);
  program[17] = 3;
  program[19] = 22;
  for (const std::string name : {"tool", "sh"}) root.put("/usr/bin/" + name, program, 0755);
  root.link("/bin", "usr/bin");
  request.root = root.folder();
  request.argv = {"/usr/bin/tool"};
  const auto end = run_in_sandbox(request);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::unsupported);
  EXPECT_THAT(end.error().what, HasSubstr("it is not a program for this machine's processor"));
}

/// Runs `request` in a child, from a shell that did chroot(1) to `folder`. @return its result; -1: not possible here
int run_in_chroot(const TempRoot& outer, const Sandbox& request) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool ready = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    for (const char* folder : {"/usr", "/proc", "/dev"})
      ready = ready && ::mount(folder, outer.at(folder).c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
    if (!ready || ::chroot(outer.folder().c_str()) != 0 || ::chdir("/") != 0) ::_exit(255);
    const auto end = run_in_sandbox(request);
    if (!end) std::fputs(to_text(end.error()).c_str(), stderr);
    ::_exit(end ? end->exit_status : 254);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

// Before the fix: "cannot make the mounts private" (EINVAL) when "/" is not a mount point, so depmod did not run.
TEST_F(SandboxTest, RunsInAPlainChrootAndLeavesNoMountThere) {
  const TempRoot outer;
  for (const std::string folder : {"/usr", "/proc", "/dev", "/inner/usr", "/inner/etc", "/inner/proc"})
    outer.make_folder(folder);
  for (const std::string name : {"bin", "lib", "lib64"}) {
    outer.link("/" + name, "usr/" + name);
    outer.link("/inner/" + name, "usr/" + name);
  }
  request.root = "/inner";
  request.read_only = false;
  request.binds = {{"/usr", "/usr", true}};
  request.argv = {"sh", "-c", "echo text > /etc/made && ! test -e /inner && exit 7"};
  const int status = run_in_chroot(outer, request);
  if (status == -1) GTEST_SKIP() << "mounts are not allowed here";
  EXPECT_EQ(status, 7);
  EXPECT_EQ(outer.content("/inner/etc/made"), "text\n");
  EXPECT_TRUE(std::filesystem::is_empty(outer.at("/inner/usr")));
}

TEST_F(SandboxTest, HasNoDevicesNoHardwareNoNetworkAndNoForeignProcesses) {
  EXPECT_EQ(shell("ls /dev; echo -; ls /sys; echo -; ls -d /proc/[0-9]*; echo -; cat /proc/net/dev; uname -n"), 0);
  std::istringstream lines(output);
  std::vector<std::string> devices;
  for (std::string line; std::getline(lines, line) && line != "-";) devices.push_back(line);
  EXPECT_THAT(devices, ::testing::UnorderedElementsAre("fd", "full", "null", "random", "stderr", "stdin", "stdout",
                                                       "tty", "urandom", "zero"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "-") << "something in /sys";
  EXPECT_THAT(output, HasSubstr("/proc/1\n"));
  EXPECT_THAT(output, Not(HasSubstr("/proc/" + std::to_string(::getpid()) + "\n")));
  EXPECT_THAT(output, Not(HasSubstr("eth0")));
  EXPECT_THAT(output, HasSubstr("slipway\n"));
  EXPECT_EQ(shell("echo x > /dev/null && head -c 2 /dev/zero | wc -c"), 0);
}

TEST_F(SandboxTest, SeesOnlyTheEnvironmentThatItIsGiven) {
  ::setenv("SLIPWAY_LEAK", "1", 1);
  request.environment.push_back("GIVEN=yes");
  EXPECT_EQ(shell("env"), 0);
  EXPECT_THAT(output, HasSubstr("GIVEN=yes\n"));
  EXPECT_THAT(output, HasSubstr("LC_ALL=C\n"));
  EXPECT_THAT(output, Not(HasSubstr("SLIPWAY_LEAK")));
}

TEST_F(SandboxTest, BindsAndOverlaysAppearAtTheirPlaces) {
  TempRoot files;
  files.put("/top/a", "from the top\n");
  files.put("/bottom/a", "hidden\n");
  files.put("/bottom/b", "from the bottom\n");
  files.put("/scratch/x", "");
  request.overlays = {{{files.at("/top"), files.at("/bottom")}, "/mnt"}};
  request.binds = {{files.at("/scratch"), "/srv", false}};
  EXPECT_EQ(shell("cat /mnt/a /mnt/b; echo made > /srv/y; touch /mnt/c"), 1);
  EXPECT_THAT(output, HasSubstr("from the top\nfrom the bottom\n"));
  EXPECT_EQ(files.content("/scratch/y"), "made\n");
  EXPECT_FALSE(files.has("/bottom/c"));
}

TEST_F(SandboxTest, NamesTheFirstThingThatIsMissingAndRunsNothing) {
  request.needs = {"/etc", "/lib/modules/no-such/build", "/neither"};
  request.argv = {"sh", "-c", "echo ran"};
  const auto end = run_in_sandbox(request);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->missing, "/lib/modules/no-such/build");
  EXPECT_EQ(output, "");
}

TEST_F(SandboxTest, AProgramThatIsMissingIsAnError) {
  request.argv = {"no-such-program"};
  const auto end = run_in_sandbox(request);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::not_found);
  EXPECT_THAT(end.error().what, HasSubstr("no-such-program"));
}

TEST_F(SandboxTest, TheTimeLimitKillsAllDescendants) {
  TempRoot files;
  files.put("/beats", "");
  request.binds = {{files.folder(), "/srv", false}};
  request.limit = std::chrono::seconds(3);
  request.argv = {"sh", "-c", "(setsid sh -c 'while :; do echo x >> /srv/beats; sleep 0.05; done' &) ; sleep 100"};
  const auto end = run_in_sandbox(request);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::timed_out);
  const std::string beats = files.content("/beats");
  EXPECT_NE(beats, "");
  ::usleep(300'000);
  EXPECT_EQ(files.content("/beats"), beats);
}

TEST_F(SandboxTest, CancelKillsIt) {
  std::atomic<bool> cancel{false};
  request.cancel = &cancel;
  request.argv = {"sleep", "100"};
  std::thread other([&] {
    ::usleep(200'000);
    cancel = true;
  });
  const auto end = run_in_sandbox(request);
  other.join();
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().code, ErrorCode::cancelled);
}

TEST_F(SandboxTest, LeftoversOfAProgramThatEndedAreKilled) {
  TempRoot files;
  files.put("/beats", "");
  request.binds = {{files.folder(), "/srv", false}};
  EXPECT_EQ(shell("setsid sh -c 'while :; do echo x >> /srv/beats; sleep 0.05; done' >/dev/null 2>&1 & sleep 1"), 0);
  const std::string beats = files.content("/beats");
  ::usleep(300'000);
  EXPECT_EQ(files.content("/beats"), beats);
}

TEST_F(SandboxTest, ItDiesWithItsCaller) {
  TempRoot files;
  files.put("/beats", "");
  const pid_t caller = ::fork();
  if (caller == 0) {
    request.on_output = nullptr;
    request.binds = {{files.folder(), "/srv", false}};
    request.argv = {"sh", "-c", "while :; do echo x >> /srv/beats; sleep 0.05; done"};
    (void)run_in_sandbox(request).ok();
    ::_exit(0);
  }
  for (int i = 0; i < 400 && files.content("/beats").empty(); ++i) ::usleep(50'000);
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  ::usleep(300'000);
  const std::string beats = files.content("/beats");
  EXPECT_NE(beats, "");
  ::usleep(300'000);
  EXPECT_EQ(files.content("/beats"), beats);
}

/// From now on, this system call fails with that errno in this process and its children.
bool fail_call(unsigned call, unsigned number) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(steps), steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Returns the exit status of a child that does this.
int in_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr unsigned kSetMountAttributes = 442;
constexpr unsigned kCloseRange = 436;

// Before the fix, only the top mount was read-only.
TEST_F(SandboxTest, EveryMountOfAReadOnlyRootIsReadOnlyOnAKernelBeforeLinux512) {
  TempRoot root;
  for (const std::string folder : {"/usr", "/tmp", "/proc", "/dev", "/opt/a disk"}) root.make_folder(folder);
  for (const std::string name : {"bin", "lib", "lib64"}) root.link("/" + name, "usr/" + name);
  request.root = root.folder();
  request.binds = {{"/usr", "/usr", true}};
  const auto tries = [&](bool old) {
    return in_child([&] {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 20;
      if (::mount("tmpfs", root.at("/opt/a disk").c_str(), "tmpfs", MS_NOEXEC, nullptr) != 0) return 21;
      if (old && !fail_call(kSetMountAttributes, ENOSYS)) return 22;
      const int status = shell("touch '/opt/a disk/x' || touch /x || touch /usr/x || exit 7; exit 8");
      return status == 7 && output.find("Operation not permitted") != std::string::npos ? 23 : status;
    });
  };
  EXPECT_EQ(tries(true), 7);
  EXPECT_EQ(tries(false), 7);
  EXPECT_FALSE(root.has("/x"));
}

TEST_F(SandboxTest, InheritsNoDescriptorOnAKernelBeforeLinux511) {
  constexpr int kHigh = 3000;  // beyond the usual limit of a shell
  EXPECT_EQ(
      in_child([&] {
        rlimit many{kHigh + 1, kHigh + 1};
        if (::setrlimit(RLIMIT_NOFILE, &many) != 0 || ::dup2(STDERR_FILENO, kHigh) != kHigh) return 20;
        if (!fail_call(kCloseRange, EINVAL)) return 21;
        return shell("test -e /proc/self/fd/2 && ! test -e /proc/self/fd/" + std::to_string(kHigh) + " && exit 7");
      }),
      7);
}

// Before the fix, the program had the input of the user who runs slipway.
TEST_F(SandboxTest, HasAnEmptyInputInARootWithoutDevices) {
  TempRoot root;
  root.put("/secret", "for slipway alone\n");
  root.make_folder("/inner/usr");
  for (const std::string name : {"bin", "lib", "lib64"}) root.link("/inner/" + name, "usr/" + name);
  request.root = root.at("/inner");
  request.binds = {{"/usr", "/usr", true}};
  EXPECT_EQ(in_child([&] {
              const int secret = ::open(root.at("/secret").c_str(), O_RDONLY | O_CLOEXEC);
              if (::dup2(secret, STDIN_FILENO) != STDIN_FILENO) return 20;
              const int status = shell("cat; exit 7");
              return output.empty() ? status : 21;
            }),
            7);
}

// A limit of 0 does not keep the kernel from passing a dump to the program that core_pattern names.
TEST_F(SandboxTest, NoDumpOfItsMemoryIsWrittenOrHandedOn) {
  EXPECT_EQ(shell("grep 'Max core' /proc/self/limits"), 0);
  EXPECT_THAT(output, ::testing::ContainsRegex("size +1 +1 "));
}

TEST_F(SandboxTest, EveryErrorSaysWhereAndWhatToDo) {
  std::atomic<bool> stop{true};
  const auto check = [&](const std::string& name) {
    const auto end = run_in_sandbox(request);
    ASSERT_FALSE(end.ok()) << name;
    EXPECT_EQ(end.error().where, "/") << name;
    EXPECT_NE(end.error().next, "") << name;
  };
  request.argv = {"no-such-program"};
  check("no program");
  request.argv = {"true"};
  request.directory = "/no/such/folder";
  check("no folder");
  request.directory = "/";
  request.argv = {"sleep", "100"};
  request.limit = std::chrono::seconds(1);
  check("too slow");
  request.cancel = &stop;
  check("cancelled");
}

TEST(SandboxWithoutRights, NamesMissingParts) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(77);
    Sandbox request;
    request.root = "/";
    request.argv = {"true"};
    request.environment = sandbox_environment();
    const auto end = run_in_sandbox(request);
    ::_exit(!end && end.error().code == ErrorCode::unsupported && !end.error().next.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace slipway::sandbox
