// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox_child.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>

#include "base/confine/powers.hpp"
#include "sandbox/user_namespace.hpp"

namespace slipway::sandbox {
namespace {

constexpr int kNotStarted = 127;
constexpr const char* kHostName = "slipway";
constexpr int kFirstInherited = 3;
constexpr rlim_t kLargestFile = rlim_t{16} << 30U;
constexpr rlim_t kOpenFiles = 65536;

[[noreturn]] void report_and_exit(int report, SandboxReport::Kind kind, int number, const std::string& text) {
  const std::string line = std::string(1, kind) + std::to_string(number) + " " + text;
  (void)!::write(report, line.data(), line.size());
  ::_exit(kNotStarted);
}

/// The errno of each optional namespace that the kernel refused.
struct NamespaceErrors {
  int network = 0;   ///< if refused, the program gets no sockets
  int messages = 0;  ///< System V and POSIX: if refused, the program gets no such queues
  int names = 0;     ///< if refused, the program sees the machine's own names
};

/// The data for process 1 inside and for the program.
struct Room {
  const Sandbox& request;
  NamespaceErrors shared;
  bool counted;  ///< all memory of the program is counted, of any kind
  int input;
  int output;
  int report;
};

/// @return false, errno set
bool unshare_all(NamespaceErrors& shared) {
  const auto alone = [](int kind) { return ::unshare(kind) == 0 ? 0 : errno; };
  if (::unshare(CLONE_NEWNS | CLONE_NEWPID) != 0) return false;
  shared = {alone(CLONE_NEWNET), alone(CLONE_NEWIPC), alone(CLONE_NEWUTS)};
  return true;
}

/// Keeps the powers over files: a root's files have many owners, and a root's own tools set them.
base::Powers powers_of(const Room& room) {
  base::Powers kept{{CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_SETGID, CAP_SETUID}};
  kept.network = room.request.local_sockets && room.shared.network == 0;
  kept.other_sockets = false;  // kinds without a namespace, for which the kernel would load modules
  kept.uncharged_memory = room.counted && room.shared.messages == 0;
  kept.programs_of_32_bits = true;
  return kept;
}

/// Marks all descriptors from `first` on, as close_range(2) does since Linux 5.11.
void close_on_exec(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  const auto mark = [first](int fd) {
    if (fd >= first) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  };
  if (DIR* const names = ::opendir("/proc/self/fd"); names != nullptr) {
    while (const dirent* const entry = ::readdir(names)) mark(std::atoi(entry->d_name));
    ::closedir(names);
    return;
  }
  for (int fd = first, end = static_cast<int>(::sysconf(_SC_OPEN_MAX)); fd < end; ++fd) mark(fd);
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void limit(int resource, rlim_t most) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  now.rlim_max = std::min(now.rlim_max, most);
  now.rlim_cur = std::min(now.rlim_cur, now.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

/// Sets the limit to 1, which also prevents a dump to the program of a core_pattern; 0 does not.
void allow_no_core() {
  const rlimit core{1, 1};
  if (::setrlimit(RLIMIT_CORE, &core) != 0) limit(RLIMIT_CORE, 1);
}

void take_streams(const Room& room) {
  if (::dup2(room.input, STDIN_FILENO) < 0 || ::dup2(room.output, STDOUT_FILENO) < 0 ||
      ::dup2(room.output, STDERR_FILENO) < 0)
    report_and_exit(room.report, SandboxReport::setup, errno, "set up input and output");
}

/// @param users  null: without a user namespace
[[noreturn]] void become_program(const Room& room, const UserNamespace* users) {
  const Sandbox& request = room.request;
  reset_signals();
  if (users != nullptr && !users->enter()) ::_exit(kNotStarted);
  take_streams(room);
  if (::chdir(request.directory.c_str()) != 0)
    report_and_exit(room.report, SandboxReport::setup, errno, "enter " + request.directory);
  const auto arguments = exec_pointers(request.argv);
  auto environment = exec_pointers(request.environment);
  ::environ = environment.data();  // execvp() searches in its PATH
  allow_no_core();
  limit(RLIMIT_FSIZE, kLargestFile);
  limit(RLIMIT_NOFILE, kOpenFiles);
  if (const base::PowersLeft left = base::take_powers(powers_of(room)); !left.what.empty())
    report_and_exit(room.report, SandboxReport::refused, left.number, left.what);
  ::execvp(arguments.front(), arguments.data());
  report_and_exit(room.report, SandboxReport::program, errno, request.argv.front());
}

/// Returns the exit status of `child`; also reaps orphans, which become children of process 1.
int wait_for(pid_t child) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) return kNotStarted;
    if (ended != child) continue;
    return exit_status_of(status);
  }
}

void note(int report, SandboxReport::Kind kind, const std::string& why) {
  const std::string line = std::string(1, kind) + why + "\n";
  (void)!::write(report, line.data(), line.size());
}

/// @return its pid, -1 when no process can be started. Reports which namespaces it lacks, and why.
pid_t start_program(const Room& room, UserNamespace& users) {
  if (const int number = room.shared.network; number != 0)
    note(room.report, SandboxReport::without_network,
         std::string("making a network namespace is refused (") + std::strerror(number) + ")" +
             (number == ENOSPC ? "; see user.max_net_namespaces" : ""));
  const pid_t program = ::fork();
  if (program == 0) become_program(room, &users);
  if (program < 0) return program;
  const UserNamespace::Outcome outcome = users.map();
  if (outcome.why_not.empty()) return program;
  note(room.report, SandboxReport::without_users, outcome.why_not);
  if (outcome.goes_on) return program;
  (void)wait_for(program);
  const pid_t again = ::fork();
  if (again == 0) become_program(room, nullptr);
  return again;
}

/// Runs as process 1 of the new namespace: when it ends, the kernel kills all its remaining processes.
[[noreturn]] void be_first(const Room& room) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::umask(022);
  UserNamespace users;
  if (auto failed = make_sandbox_mounts(room.request); !failed.text.empty())
    report_and_exit(room.report, failed.kind, failed.number, failed.text);
  if (room.shared.names == 0) (void)!::sethostname(kHostName, std::string_view(kHostName).size());
  for (const std::string& path : room.request.needs) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) report_and_exit(room.report, SandboxReport::need, errno, path);
  }
  if (room.request.prepare_only) ::_exit(0);
  const pid_t program = start_program(room, users);
  if (program < 0) report_and_exit(room.report, SandboxReport::setup, errno, "start a process");
  ::close(room.report);
  ::close(room.output);
  ::_exit(wait_for(program));
}

}  // namespace

void enter_sandbox(const Sandbox& request, const base::LimitedProcesses& group, int output, int report, int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(kNotStarted);  // the caller ended before that took effect
  if (!group.join()) report_and_exit(report, SandboxReport::setup, errno, "join the group " + group.name());
  ::setsid();  // only slipway reacts to Ctrl-C
  close_on_exec(kFirstInherited);
  Room room{request, {}, !group.needs_looks(), ::open("/dev/null", O_RDONLY | O_CLOEXEC), output, report};
  if (room.input < 0) report_and_exit(report, SandboxReport::setup, errno, "open /dev/null");
  if (!unshare_all(room.shared))
    report_and_exit(report, SandboxReport::refused, errno, "make private namespaces (unshare)");
  const pid_t first = ::fork();
  if (first == 0) be_first(room);
  if (first < 0) report_and_exit(report, SandboxReport::setup, errno, "start a process");
  ::close(report);
  ::close(output);
  ::_exit(wait_for(first));
}

}  // namespace slipway::sandbox
