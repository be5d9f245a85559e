// SPDX-License-Identifier: Apache-2.0
#include "sandbox/inside.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/confine/powers.hpp>

#include "sandbox/user_namespace.hpp"

namespace slipway::core {
namespace {

constexpr int kNotStarted = 127;
constexpr const char* kHostName = "slipway";
constexpr int kFirstInherited = 3;
constexpr rlim_t kLargestFile = rlim_t{16} << 30U;
constexpr rlim_t kOpenFiles = 65536;

/// A root's files have many owners, and a root's own tools set them.
const Powers& powers_over_files() {
  static const Powers kept{{CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_SETGID, CAP_SETUID}};
  return kept;
}

[[noreturn]] void report_and_exit(int report, SandboxReport::Kind kind, int number, const std::string& text) {
  const std::string line = std::string(1, kind) + std::to_string(number) + " " + text;
  (void)!::write(report, line.data(), line.size());
  ::_exit(kNotStarted);
}

bool unshare_all() {
  constexpr int kMust = CLONE_NEWNS | CLONE_NEWPID;
  if (::unshare(kMust | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0) return true;
  return errno != EPERM && ::unshare(kMust) == 0;  // a kernel without one of the lesser namespaces
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
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

/// @param users  null: without a user namespace
[[noreturn]] void become_program(const Sandbox& request, const UserNamespace* users, int output, int report) {
  reset_signals();
  if (users != nullptr && !users->enter()) ::_exit(kNotStarted);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (::close_range(kFirstInherited, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
    for (int fd = kFirstInherited; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (::chdir(request.directory.c_str()) != 0)
    report_and_exit(report, SandboxReport::setup, errno, "enter " + request.directory);
  const auto arguments = pointers(request.argv);
  auto environment = pointers(request.environment);
  ::environ = environment.data();  // execvp() searches in its PATH
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, kLargestFile);
  limit(RLIMIT_NOFILE, kOpenFiles);
  if (const PowersLeft left = take_powers(powers_over_files()); !left.what.empty())
    report_and_exit(report, SandboxReport::refused, left.number, left.what);
  ::execvp(arguments.front(), arguments.data());
  report_and_exit(report, SandboxReport::program, errno, request.argv.front());
}

/// The exit status of `child`; orphans that come to us as process 1 are reaped on the way.
int wait_for(pid_t child) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) return kNotStarted;
    if (ended != child) continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

/// @return its pid, -1 when no process can be started. It tells in the report why it has no user namespace of its own.
pid_t start_program(const Sandbox& request, UserNamespace& users, int output, int report) {
  const pid_t program = ::fork();
  if (program == 0) become_program(request, &users, output, report);
  if (program < 0) return program;
  const UserNamespace::Outcome outcome = users.map();
  if (outcome.why_not.empty()) return program;
  const std::string line = std::string(1, SandboxReport::without_users) + outcome.why_not + "\n";
  (void)!::write(report, line.data(), line.size());
  if (outcome.goes_on) return program;
  (void)wait_for(program);
  const pid_t again = ::fork();
  if (again == 0) become_program(request, nullptr, output, report);
  return again;
}

/// Process 1 of the new namespace: when it ends, the kernel kills all that is left in there.
[[noreturn]] void be_first(const Sandbox& request, int output, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  UserNamespace users;
  if (auto failed = make_sandbox_mounts(request); !failed.text.empty())
    report_and_exit(report, failed.kind, failed.number, failed.text);
  (void)!::sethostname(kHostName, std::string_view(kHostName).size());
  ::umask(022);
  for (const std::string& path : request.needs) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) report_and_exit(report, SandboxReport::need, errno, path);
  }
  if (request.prepare_only) ::_exit(0);
  const pid_t program = start_program(request, users, output, report);
  if (program < 0) report_and_exit(report, SandboxReport::setup, errno, "start a process");
  ::close(report);
  ::close(output);
  ::_exit(wait_for(program));
}

}  // namespace

void enter_sandbox(const Sandbox& request, const LimitedProcesses& group, int output, int report, int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::getppid() != parent) ::_exit(kNotStarted);  // the caller died before that took effect
  if (!group.join()) report_and_exit(report, SandboxReport::setup, errno, "join the group " + group.name());
  ::setsid();  // Ctrl-C is for slipway to act on
  if (!unshare_all()) report_and_exit(report, SandboxReport::refused, errno, "make private namespaces (unshare)");
  const pid_t first = ::fork();
  if (first == 0) be_first(request, output, report);
  if (first < 0) report_and_exit(report, SandboxReport::setup, errno, "start a process");
  ::close(report);
  ::close(output);
  ::_exit(wait_for(first));
}

}  // namespace slipway::core
