// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/spawn.hpp"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/process/sockets.hpp>

#include "core/worker/serve/serve.hpp"

namespace slipway::core {
namespace {

/// True for variables that could change which program runs, or its libraries.
bool withheld(const char* entry, bool trusted) {
  if (std::strncmp(entry, "SLIPWAY_WORKER", 14) == 0) return true;
  if (trusted) return false;
  for (const char* prefix : {"LD_", "SLIPWAY_", "GCONV_PATH=", "GLIBC_TUNABLES=", "OPENSSL_"})
    if (std::strncmp(entry, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

/// True when `own` has a variable of the same name.
bool replaced(const char* entry, const std::vector<std::string>& own) {
  const std::size_t name = std::strcspn(entry, "=") + 1;
  for (const std::string& each : own)
    if (std::strncmp(entry, each.c_str(), name) == 0) return true;
  return false;
}

/// A closed standard input is replaced by an empty one.
Fd input_of(const WorkerOptions& options) {
  Fd input(options.reads_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : -1);
  return input ? std::move(input) : Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/// Returns copies of the family's descriptors, under numbers above those that the worker gets.
Result<std::vector<Fd>> group_descriptors(const Family& family) {
  std::vector<Fd> groups;
  for (const int members : family.group().members()) {
    SLIPWAY_TRY(group, moved_up(Fd(fcntl(members, F_DUPFD_CLOEXEC, 0))));
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

Result<WorkerProcess> spawn_worker(const WorkerOptions& options, Family& family) {
  SLIPWAY_TRY(
      path, options.is_program ? Result<std::string>(options.plugin_path) : worker_program(options.trust_environment));
  SLIPWAY_TRY(channel, make_socket_pair());
  fcntl(channel.ours.get(), F_SETFL, O_NONBLOCK);
  SLIPWAY_TRY(printed, make_pipe());
  fcntl(printed.read.get(), F_SETFL, O_NONBLOCK);
  SLIPWAY_TRY(input, moved_up(input_of(options)));
  SLIPWAY_TRY(groups, group_descriptors(family));
  ChildProgram program{.argv = {path, options.plugin_path, std::to_string(getpid())},
                       .environment = options.environment,
                       .descriptors = {input.get(), printed.write.get(), printed.write.get(), channel.theirs.get()},
                       .own_session = true};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!withheld(*entry, options.trust_environment) && !replaced(*entry, options.environment))
      program.environment.emplace_back(*entry);
  program.environment.push_back(family.marker());
  program.environment.push_back(worker_sockets_entry(options.sockets.size()));
  program.descriptors.insert(program.descriptors.end(), options.sockets.begin(), options.sockets.end());
  program.environment.push_back(std::string(kWorkerGroups) + "=" + std::to_string(groups.size()));
  for (const Fd& group : groups) program.descriptors.push_back(group.get());
  Result<pid_t> pid = Error{};
  run_on_start_thread([&] { pid = family.start([&] { return start_program(program); }); });
  if (!pid) return std::move(pid).error();
  Fd handle(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  return WorkerProcess{*pid, std::move(handle), std::move(channel.ours), std::move(printed.read)};
}

}  // namespace slipway::core
