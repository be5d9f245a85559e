// SPDX-License-Identifier: Apache-2.0
// The attacks of a hostile root's program (attacker.cpp): it succeeds as root of this machine, and does not in the
// sandbox.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sandbox.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::sandbox {
namespace {

using test::TempRoot;

constexpr const char* kAttacker = SLIPWAY_TEST_ATTACKER;

/// Returns the attacker's output without a sandbox.
std::string outside(const std::string& words) {
  FILE* const lines = ::popen((std::string(kAttacker) + " " + words + " 2>&1").c_str(), "r");
  std::string text;
  for (int byte = 0; lines != nullptr && (byte = std::fgetc(lines)) != EOF;) text += static_cast<char>(byte);
  if (lines != nullptr) ::pclose(lines);
  return text.substr(0, text.find('\n'));
}

/// A root that contains the attacker and this machine's programs; the attacker must not reach the folder beside it.
class Attack : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string folder :
         {"/root/usr", "/root/etc", "/root/tmp", "/root/proc", "/root/sys", "/root/dev", "/root/opt", "/beside"})
      files_.make_folder(folder);
    for (const std::string name : {"bin", "sbin", "lib", "lib64"}) files_.link("/root/" + name, "usr/" + name);
    std::filesystem::copy_file(kAttacker, files_.at("/root/opt/attacker"));
    request_.root = files_.at("/root");
    request_.binds = {{"/usr", "/usr", true}};
    request_.environment = sandbox_environment();
    request_.on_output = [this](std::string_view text) { output_ += text; };
    if (::geteuid() != 0) GTEST_SKIP() << "an attack shows something where it is root's";
  }

  std::string inside(const std::string& name, const std::string& argument = "") {
    output_.clear();
    request_.argv = {"/opt/attacker", name};
    if (!argument.empty()) request_.argv.push_back(argument);
    const auto end = run_in_sandbox(request_);
    EXPECT_TRUE(end.ok()) << to_text(end.error());
    return output_.substr(0, output_.find('\n'));
  }

  /// Returns the error of a run that needs more than its limits allow.
  Error refused(const std::string& name, const std::string& argument) {
    request_.argv = {"/opt/attacker", name, argument};
    request_.limits = {.memory_bytes = 128U << 20U, .processes = 60};
    request_.output_bytes = 1U << 20U;
    const auto end = run_in_sandbox(request_);
    return end ? Error{ErrorCode::internal, "it ended with status " + std::to_string(end->exit_status), {}, {}, {}}
               : end.error();
  }

  TempRoot files_;
  Sandbox request_;
  std::string output_;
};

constexpr const char* kReached = "reached";
constexpr const char* kRefused = "Operation not permitted";
constexpr const char* kNotImplemented = "Function not implemented";

// Before the fix, a root's ldconfig wrote into the host's root folder.
TEST_F(Attack, ByAFileHandleReachesNothingBesideTheRoot) {
  const std::string handle = outside("handle-of " + files_.at("/beside"));
  ASSERT_NE(handle.find(':'), std::string::npos) << handle;
  EXPECT_EQ(inside("handle", handle), kRefused);
  EXPECT_FALSE(files_.has("/beside/written"));
  EXPECT_EQ(outside("handle " + handle + " " + files_.folder()), kReached);
  EXPECT_TRUE(files_.has("/beside/written")) << "the attack itself does not work";
}

TEST_F(Attack, BySysctlsAndSysrqDoesNotReachTheKernel) {
  for (const std::string file : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"}) {
    if (!std::filesystem::exists(file)) continue;
    EXPECT_EQ(inside("write", file), "Read-only file system") << file;
  }
  if (::access("/proc/sys/kernel/core_pattern", W_OK) == 0) {
    EXPECT_EQ(outside("write /proc/sys/kernel/core_pattern"), kReached);
  }
}

TEST_F(Attack, MakesNoDeviceNodes) {
  for (const std::string kind : {"block-device", "character-device"}) {
    EXPECT_EQ(inside(kind, "/etc/" + kind), kRefused);
    EXPECT_FALSE(files_.has("/root/etc/" + kind));
  }
}

// A node that was in the root before, as an image may contain it.
TEST_F(Attack, OpensNoDeviceNodeOfTheRoot) {
  if (outside("character-device " + files_.at("/root/etc/memory")) != kReached)
    GTEST_SKIP() << "no nodes can be made here";
  EXPECT_EQ(inside("write", "/etc/memory"), "Permission denied");
}

TEST_F(Attack, GetsNoNamespacesTracesKeysNorAnotherRootFolder) {
  for (const std::string name : {"user-namespace", "clone", "trace", "keys", "chroot"})
    EXPECT_EQ(inside(name), kRefused) << name;
  for (const std::string name : {"trace", "chroot"}) EXPECT_EQ(outside(name), kReached) << name;
}

TEST_F(Attack, MountsNothingAndUnmountsNothing) {
  EXPECT_EQ(inside("mount", "/etc"), kRefused);
  EXPECT_EQ(inside("umount", "/usr"), kRefused);
  EXPECT_EQ(outside("mount " + files_.at("/beside") + " private"), kReached);
  EXPECT_EQ(outside("umount " + files_.at("/beside") + " private"), kReached);
}

TEST_F(Attack, DoesNotReachTheKernelByModulesProgramsEventsAndRings) {
  for (const std::string name : {"module", "kexec", "bpf", "events", "faults"})
    EXPECT_EQ(inside(name), kRefused) << name;
  EXPECT_EQ(inside("ring"), kNotImplemented);
  for (const std::string name : {"bpf", "events", "faults", "ring"}) {
    const std::string here = outside(name);  // a container's own filter may refuse it too
    if (here == kRefused || here == kNotImplemented) continue;
    EXPECT_EQ(here, kReached) << name;
  }
}

// As root, the attacker could control services of the machine whose sockets it sees.
TEST_F(Attack, ReachesNoServiceOfTheMachineByItsSocket) {
  const Fd service(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  files_.at("/root/etc/service").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(service.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(service.get(), 8), 0);
  for (const std::string name : {"internet", "netlink"}) {
    EXPECT_EQ(inside(name), kRefused);
    EXPECT_EQ(outside(name), kReached);
  }
  EXPECT_EQ(inside("connect", "/etc/service"), kRefused);
  EXPECT_EQ(outside("connect " + files_.at("/root/etc/service")), kReached);
  request_.local_sockets = true;  // as for a root's own tools, which see only the root
  EXPECT_EQ(inside("connect", "/etc/service"), kReached);
  for (const std::string name : {"internet", "netlink"})
    EXPECT_EQ(inside(name), "Address family not supported by protocol") << name;
}

// Before the fix, 32-bit programs were refused every system call, so roots for i686 were accepted whose tools then
// could not run.
TEST_F(Attack, OfA32BitProgramMeetsTheSameRules) {
  if (outside("i686") != kReached) GTEST_SKIP() << "this kernel runs none";
  EXPECT_EQ(inside("i686"), kReached);
  EXPECT_EQ(inside("i686-chroot"), kRefused);
  EXPECT_EQ(outside("i686-chroot"), kReached);
}

TEST_F(Attack, HasNoCapabilitiesButThoseForFilesOfOthers) {
  request_.argv = {"sh", "-c", "grep -E 'Cap(Eff|Bnd|Prm|Inh|Amb)|NoNewPrivs|Seccomp:' /proc/self/status"};
  output_.clear();
  ASSERT_TRUE(run_in_sandbox(request_).ok());
  EXPECT_EQ(output_,
            "CapInh:\t0000000000000000\nCapPrm:\t00000000000000db\nCapEff:\t00000000000000db\n"
            "CapBnd:\t00000000000000db\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_F(Attack, BySheerNumberOrSizeEndsAtALimit) {
  const Error forks = refused("forks", "300");
  EXPECT_THAT(forks.what, ::testing::HasSubstr("started more than the 60 processes")) << to_text(forks);
  const Error memory = refused("memory", "400");
  EXPECT_THAT(memory.what, ::testing::HasSubstr("ran out of memory: programs of a root may use 128 MiB"));
  const Error print = refused("print", "40");
  EXPECT_THAT(print.what, ::testing::HasSubstr("printed more than 1 MiB and was stopped"));
  for (const Error* each : {&forks, &memory, &print}) EXPECT_EQ(each->code, ErrorCode::io);
  EXPECT_EQ(outside("forks 300"), kReached);
  EXPECT_EQ(outside("memory 400"), kReached);
  EXPECT_EQ(outside("print 40 | tail -c 8"), kReached);
}

// In a container whose cgroups are not visible.
TEST_F(Attack, BySheerNumberOrSizeEndsAtALimitWithoutCgroups) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::unshare(CLONE_NEWNS);
    ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    ::mount("tmpfs", "/sys/fs", "tmpfs", 0, nullptr);
    const base::LimitedProcesses probe("probe", {.memory_bytes = 1, .processes = 1});
    const bool forks = refused("forks", "300").what.find("started more than the 60 processes") != std::string::npos;
    const bool memory = refused("memory", "400").what.find("ran out of memory") != std::string::npos;
    // Memory that is charged to no process cannot be seen: it is refused, and /dev holds little.
    const bool unseen = inside("memory-file", "600") == kRefused && inside("shared-memory", "400") == kRefused;
    const bool devices = inside("device-folder", "600") == "No space left on device";
    ::_exit((probe.needs_looks() ? 0 : 1) + (forks ? 0 : 2) + (memory ? 0 : 4) + (unseen ? 0 : 8) + (devices ? 0 : 16));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const std::string attack : {"memory-file 600", "shared-memory 400"}) EXPECT_EQ(outside(attack), kReached);
}

// Before the fix, each of the empty folders had a limit of its own.
TEST_F(Attack, FillsTheEmptyFoldersUpToACommonLimit) {
  for (const std::string folder : {"/root/run", "/root/var/tmp"}) files_.make_folder(folder);
  request_.limits.memory_bytes = 64U << 20U;
  request_.argv = {"sh", "-c",
                   "for f in /tmp /run /var/tmp; do head -c 20000000 /dev/zero 2>/dev/null > $f/x || echo full; done"};
  output_.clear();
  (void)run_in_sandbox(request_);
  EXPECT_THAT(output_, ::testing::StrEq("full\nfull\n"));
}

std::vector<std::string> groups_of_this_process() {
  std::vector<std::string> found;
  const std::string name = "slipway-sandbox-" + std::to_string(::getpid()) + "-";
  std::error_code problem;
  for (std::filesystem::recursive_directory_iterator entry("/sys/fs/cgroup", problem), end; !problem && entry != end;
       entry.increment(problem))
    if (entry->path().filename().string().starts_with(name)) found.push_back(entry->path());
  return found;
}

TEST_F(Attack, LeavesNoCgroupBehindInEveryCase) {
  const bool some = !base::LimitedProcesses("probe", request_.limits).needs_looks();
  std::atomic<bool> cancel{false};
  std::vector<std::string> during;
  request_.cancel = &cancel;
  request_.argv = {"/opt/attacker", "forks", "20"};
  request_.limit = std::chrono::seconds(60);
  std::thread looker([&] {
    while (some && during.empty()) during = groups_of_this_process();
    cancel = true;
  });
  (void)run_in_sandbox(request_);
  looker.join();
  EXPECT_EQ(during.empty(), !some);
  cancel = false;
  EXPECT_EQ(inside("keys"), kRefused);
  (void)refused("memory", "400");
  EXPECT_THAT(groups_of_this_process(), ::testing::IsEmpty());
}

/// Returns the contents of one of the process's own files.
std::string of_this_process(const std::string& file) {
  std::ifstream stream("/proc/self/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(Attack, IsRootOfItsOwnUserNamespaceAlone) {
  request_.argv = {"sh", "-c", "readlink /proc/self/ns/user; cat /proc/self/uid_map /proc/self/gid_map"};
  output_.clear();
  const auto end = run_in_sandbox(request_);
  ASSERT_TRUE(end.ok()) << to_text(end.error());
  EXPECT_EQ(end->no_user_namespace, "");
  const std::string here = std::filesystem::read_symlink("/proc/self/ns/user");
  EXPECT_NE(output_.substr(0, output_.find('\n')), here);
  EXPECT_EQ(output_.substr(output_.find('\n') + 1), of_this_process("uid_map") + of_this_process("gid_map"));
}

/// Runs `act` in a user namespace of its own, whose owner allows no namespace of a kind ("max_net_namespaces"). The
/// parent maps the users of this namespace.
/// @return the result of `act`; 10 and more: the namespace cannot be created
int where_none_is_allowed(const std::string& kind, const std::function<int()>& act) {
  int ready[2];
  if (::pipe(ready) != 0) return 10;
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    if (::unshare(CLONE_NEWUSER) != 0 || ::raise(SIGSTOP) != 0) ::_exit(11);
    (void)!::read(ready[0], &byte, 1);
    (void)::unshare(CLONE_NEWUTS);  // a name of its own, which no other process uses
    std::ofstream("/proc/sys/user/" + kind) << "0" << std::flush;
    ::_exit(act());
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  if (!WIFSTOPPED(status)) return 12;
  for (const std::string map : {"uid_map", "gid_map"})
    std::ofstream("/proc/" + std::to_string(child) + "/" + map) << "0 0 4294967295" << std::flush;
  ::kill(child, SIGCONT);
  (void)!::write(ready[1], "x", 1);
  ::waitpid(child, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return WEXITSTATUS(status);
}

TEST_F(Attack, StaysInTheRoomWithoutAUserNamespaceAndTheReasonIsNamed) {
  request_.argv = {"/opt/attacker", "chroot"};
  EXPECT_EQ(where_none_is_allowed("max_user_namespaces",
                                  [this] {
                                    const auto end = run_in_sandbox(request_);
                                    if (!end) return 3;
                                    const std::string& why = end->no_user_namespace;
                                    return (why.find("user.max_user_namespaces") == std::string::npos ? 1 : 0) +
                                           (output_.starts_with(kRefused) ? 0 : 2);
                                  }),
            0);
}

// Before the fix, the program ran in the machine's own network, without a message.
TEST_F(Attack, GetsNoSocketsWithoutANetworkNamespaceAndTheReasonIsNamed) {
  request_.argv = {"/opt/attacker", "connect", "/etc/service"};
  request_.local_sockets = true;
  EXPECT_EQ(where_none_is_allowed("max_net_namespaces",
                                  [this] {
                                    const auto end = run_in_sandbox(request_);
                                    if (!end) return 3;
                                    const std::string& why = end->no_network_namespace;
                                    return (why.find("user.max_net_namespaces") == std::string::npos ? 1 : 0) +
                                           (output_.starts_with(kRefused) ? 0 : 2);
                                  }),
            0);
}

// Before the fix, the machine itself was then named "slipway".
TEST_F(Attack, CannotRenameTheMachineWithoutAUtsNamespace) {
  request_.argv = {"/opt/attacker", "keys"};
  EXPECT_EQ(where_none_is_allowed("max_uts_namespaces",
                                  [this] {
                                    constexpr std::string_view kName = "machine";
                                    if (::sethostname(kName.data(), kName.size()) != 0) return 3;
                                    if (!run_in_sandbox(request_)) return 1;
                                    char name[256] = {};
                                    ::gethostname(name, sizeof(name) - 1);
                                    return name == kName ? 0 : 2;
                                  }),
            0);
}

TEST_F(Attack, StillLetsARootsToolsSetOwnersAndModes) {
  request_.argv = {"sh", "-c", "touch /etc/f && chown 12:34 /etc/f && chmod 4711 /etc/f && stat -c '%u %g %a' /etc/f"};
  output_.clear();
  ASSERT_TRUE(run_in_sandbox(request_).ok());
  EXPECT_EQ(output_, "12 34 4711\n");
}

}  // namespace
}  // namespace slipway::sandbox
