// SPDX-License-Identifier: Apache-2.0
#include "core/worker/serve/serve.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <slipway/process/sockets.hpp>

#include "base/write/standard_output.hpp"
#include "core/worker/serve/connection.hpp"

namespace slipway::core {
namespace {

constexpr int kDescriptor = 3;
constexpr int kUsage = 64;

void set_oom_score() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  const std::string score = std::to_string(kWorkerOomScore);
  if (file >= 0) (void)!write(file, score.data(), score.size());
  if (file >= 0) close(file);
}

/// True when slipway has started this process, and has not ended.
bool has_parent(pid_t parent) {
  struct stat status {};
  if (fstat(kDescriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;  // another parent: the first one ended before prctl()
}

/// "/sys/fs/cgroup/system.slice/…/cgroup.procs"
std::string path_of(int descriptor) {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), problem);
  return problem ? "the control group of a worker" : path.string();
}

/// Enters the control groups that slipway has made for this worker. Without them its limits would not hold, so that a
/// failure ends the worker. Errors: system_error() with the path of the group's cgroup.procs
Status join_groups() {
  const char* const count = std::getenv(kWorkerGroups);
  const int first = kFirstWorkerSocket + static_cast<int>(worker_sockets());
  Status joined;
  for (int i = 0; count != nullptr && i < std::atoi(count); ++i) {
    const bool entered = !joined || write(first + i, "0", 1) == 1;
    const int why = errno;
    const std::string path = entered ? std::string() : path_of(first + i);
    close(first + i);  // no code of the plugin gets it, also where the kernel has no close_range(2)
    if (entered) continue;
    Error error = system_error("put the worker into its control group:", path, why);
    error.next =
        "run slipway as root, or as a unit with Delegate=yes, which gives its user the control group that it runs in";
    joined = std::move(error);
  }
  return joined;
}

/// Sets up the process before the first instruction of the plugin.
void settle() {
  fcntl(kDescriptor, F_SETFD, FD_CLOEXEC);
  syscall(SYS_close_range, kFirstWorkerSocket + worker_sockets(), ~0U, 0U);
  rlimit core{};
  // 1 also prevents a dump to the program of a core_pattern, which 0 does not.
  if (getrlimit(RLIMIT_CORE, &core) == 0) core.rlim_cur = std::min<rlim_t>(1, core.rlim_max);
  (void)setrlimit(RLIMIT_CORE, &core);
  set_oom_score();
}

PluginAnswer ask(PluginLibrary& plugin, const Json& call) {
  return plugin.call(call.value("op", ""), call.value("request", Json()));
}

void reply(Connection& connection, const char* type, const Json& call, PluginAnswer answer) {
  connection.send(
      {{"type", type}, {"id", call.value("id", 0)}, {"status", answer.status}, {"value", std::move(answer.value)}});
}

[[noreturn]] void serve(const LoadPlugin& load) {
  Connection connection(kDescriptor);
  WorkerServices services(connection);
  Result<std::unique_ptr<PluginLibrary>> plugin = load(services.table());
  if (!plugin) {
    connection.send({{"type", "reply"},
                     {"id", 0},
                     {"status", static_cast<int>(SLIPWAY_FAILED)},
                     {"value", to_json(plugin.error())}});
    _exit(1);
  }
  connection.send({{"type", "ready"}});
  std::jthread service;  // runs a service; this thread keeps listening for messages
  for (;;) {
    const Json call = connection.receive();
    if (call["type"] == "tell") {
      reply(connection, "told", call, ask(**plugin, call));
    } else if (call.value("op", "") == "service") {
      service = std::jthread([&connection, &plugin, call] { reply(connection, "reply", call, ask(**plugin, call)); });
    } else {
      services.set_in_call(true);
      PluginAnswer answer = ask(**plugin, call);
      services.set_in_call(false);
      reply(connection, "reply", call, std::move(answer));
      malloc_trim(0);  // the next call may come much later, and other processes need memory meanwhile
    }
  }
}

}  // namespace

int serve_as_worker(int count, char** arguments, const LoadPlugin& load) {
  base::begin_program();
  if (count == 3 && has_parent(std::atoi(arguments[2]))) {
    const Status joined = join_groups();
    settle();
    serve([&](const slipway_services* services) -> Result<std::unique_ptr<PluginLibrary>> {
      if (!joined) return joined.error();
      return load(services);
    });
  }
  std::fputs("only slipway starts this program; see `slipway --help`\n", stderr);
  return kUsage;
}

}  // namespace slipway::core
