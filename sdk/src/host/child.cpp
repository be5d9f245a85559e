// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.hpp"

namespace slipway::detail {
namespace {

/// How the child enters its root; all descriptors are opened before the fork.
struct Entrance {
  bool stay = false;             ///< the root is this process's own "/"
  std::array<Fd, 5> namespaces;  ///< of process 1 when it is in the root
  int root = -1;                 ///< else: the folder for chroot
  bool through_namespaces = false;
};

bool same_folder(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

Entrance entrance_to(const RootDir& root) {
  Entrance entrance{.root = root.fd()};
  struct stat wanted {
  }, seen{};
  if (fstat(root.fd(), &wanted) != 0) return entrance;
  entrance.stay = stat("/", &seen) == 0 && same_folder(wanted, seen);
  if (entrance.stay || stat("/proc/1/root/.", &seen) != 0 || !same_folder(wanted, seen)) return entrance;
  constexpr std::array kNames{"mnt", "uts", "ipc", "net", "cgroup"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    entrance.namespaces.at(i) = Fd(open((std::string("/proc/1/ns/") + kNames.at(i)).c_str(), O_RDONLY | O_CLOEXEC));
  entrance.through_namespaces = static_cast<bool>(entrance.namespaces[0]);
  return entrance;
}

/// Everything from here to the end of run_in_child() runs between fork and exec: only system calls, no memory
/// allocation.
bool enter(const Entrance& entrance) {
  if (entrance.stay) return chdir("/") == 0;
  if (!entrance.through_namespaces) return fchdir(entrance.root) == 0 && chroot(".") == 0;
  for (std::size_t i = 1; i < entrance.namespaces.size(); ++i)
    if (entrance.namespaces[i]) (void)setns(entrance.namespaces[i].get(), 0);  // best effort: only mount is necessary
  return setns(entrance.namespaces[0].get(), CLONE_NEWNS) == 0 && chdir("/") == 0;
}

void settle_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

struct Launch {
  const char* path;
  char* const* argv;
  char* const* environment;
  const Entrance* entrance;
  int input, output, errors, report;
};

[[noreturn]] void run_in_child(const Launch& launch) {
  setpgid(0, 0);
  umask(022);  // files written into a root (depmod, ldconfig) are for all users, for any umask of the caller
  settle_signals();
  const bool ready = dup2(launch.input, 0) >= 0 && dup2(launch.output, 1) >= 0 && dup2(launch.errors, 2) >= 0 &&
                     enter(*launch.entrance);
  if (ready) {
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);  // left open by libraries; missing before 5.11
    execve(launch.path, launch.argv, launch.environment);
  }
  const int error = errno;
  (void)!write(launch.report, &error, sizeof(error));
  _exit(127);
}

/// Returns the child's errno when exec failed; 0 when it succeeded, which closes the other end.
int exec_error(const Fd& report) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(report.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? error : 0;
}

Error cannot_start(const std::string& path, int number) {
  Error error = system_error("run", path, number);
  if (number == ENOENT) error.next = "its interpreter or loader is missing: is the root complete?";
  if (number == ENOEXEC) error.next = "it is not a program for this machine: is the root of another architecture?";
  return error;
}

}  // namespace

Result<Child> start_child(const RootDir& root, const std::string& path, const std::vector<std::string>& argv) {
  SLIPWAY_TRY(output, make_pipe());
  SLIPWAY_TRY(errors, make_pipe());
  SLIPWAY_TRY(report, make_pipe());
  SLIPWAY_TRY(input, moved_up(Fd(open("/dev/null", O_RDONLY | O_CLOEXEC))));
  const Entrance entrance = entrance_to(root);
  const std::vector<std::string> environment{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                             "HOME=/root", "LC_ALL=C"};
  const std::vector<char*> argument_pointers = exec_pointers(argv);
  const std::vector<char*> environment_pointers = exec_pointers(environment);
  const Launch launch{path.c_str(), argument_pointers.data(), environment_pointers.data(), &entrance,
                      input.get(),  output.write.get(),       errors.write.get(),          report.write.get()};
  const pid_t pid = fork();
  if (pid < 0) return system_error("start", path, errno);
  if (pid == 0) run_in_child(launch);
  report.write = Fd();
  if (const int error = exec_error(report.read); error != 0) {
    waitpid(pid, nullptr, 0);
    return cannot_start(path, error);
  }
  return Child{pid, std::move(output.read), std::move(errors.read), true};
}

}  // namespace slipway::detail
