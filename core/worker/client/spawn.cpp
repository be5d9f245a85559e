// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/worker/client/cgroup_start.hpp"

namespace slipway::core {
namespace {

constexpr int kFirstHigh = 10;  // above every number that the new process uses

/// posix_spawn(3): quick, since nothing of this process is copied.
Result<pid_t> start_plainly(const Program& program) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (std::size_t i = 0; i < program.descriptors.size(); ++i)
    posix_spawn_file_actions_adddup2(&actions, program.descriptors.at(i), static_cast<int>(i));
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, program.path, &actions, &attributes, program.arguments.data(), program.environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return system_error("start", program.path, error);
  return pid;
}

/// Entries of the environment that could change what runs, or with what.
bool withheld(const char* entry, bool trusted) {
  if (std::strncmp(entry, "SLIPWAY_WORKER", 14) == 0) return true;
  if (trusted) return false;
  for (const char* prefix : {"LD_", "SLIPWAY_", "GCONV_PATH=", "GLIBC_TUNABLES=", "OPENSSL_"})
    if (std::strncmp(entry, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

/// An entry of that name is among ours.
bool replaced(const char* entry, const std::vector<std::string>& own) {
  const std::size_t name = std::strcspn(entry, "=") + 1;
  for (const std::string& each : own)
    if (std::strncmp(entry, each.c_str(), name) == 0) return true;
  return false;
}

/// @param what  that was opened, for messages
Result<Fd> high(int number, std::string_view what) {
  if (number < 0) return system_error("open", what, errno);
  const Fd low(number);
  Fd moved(fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstHigh));
  if (!moved) return system_error("make", "a descriptor for a worker", errno);
  return moved;
}

struct Ends {
  Fd ours;
  Fd theirs;
};

Result<Ends> make_ends(int (*make)(int*)) {
  std::array<int, 2> both{-1, -1};
  if (make(both.data()) != 0) return system_error("make", "a connection to a worker", errno);
  Fd second(both[1]);
  SLIPWAY_TRY(ours, high(both[0], "a socket for a worker"));
  SLIPWAY_TRY(theirs, high(second.release(), "a socket for a worker"));
  fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  return Ends{std::move(ours), std::move(theirs)};
}

int make_channel(int* both) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both); }
int make_pipe(int* both) { return pipe2(both, O_CLOEXEC); }

Result<pid_t> start(const Program& program, const Family& family) {
  if (family.cgroup() >= 0)
    if (const pid_t pid = start_in_cgroup(program, family.cgroup()); pid > 0) return pid;
  return start_plainly(program);
}

}  // namespace

Result<WorkerProcess> spawn_worker(const WorkerOptions& options, Family& family) {
  SLIPWAY_TRY(
      path, options.is_program ? Result<std::string>(options.plugin_path) : worker_program(options.trust_environment));
  SLIPWAY_TRY(channel, make_ends(make_channel));
  SLIPWAY_TRY(printed, make_ends(make_pipe));
  SLIPWAY_TRY(nothing, high(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null"));
  std::array<std::string, 3> arguments{path, options.plugin_path, std::to_string(getpid())};
  std::string marker = family.marker();
  Program program{.path = path.c_str(),
                  .descriptors = {nothing.get(), printed.theirs.get(), printed.theirs.get(), channel.theirs.get()}};
  for (std::string& argument : arguments) program.arguments.push_back(argument.data());
  program.arguments.push_back(nullptr);
  std::vector<std::string> own = options.environment;
  for (std::string& entry : own) program.environment.push_back(entry.data());
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!withheld(*entry, options.trust_environment) && !replaced(*entry, own)) program.environment.push_back(*entry);
  program.environment.push_back(marker.data());
  program.environment.push_back(nullptr);
  Result<pid_t> pid = Error{};
  run_on_start_thread([&] { pid = family.start([&] { return start(program, family); }); });
  if (!pid) return std::move(pid).error();
  Fd handle(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  return WorkerProcess{*pid, std::move(handle), std::move(channel.ours), std::move(printed.ours)};
}

}  // namespace slipway::core
