// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/family.hpp"

#include <chrono>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>

#include "core/worker/client/process_list.hpp"
#include "core/worker/serve/serve.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceMs = 2000;

/// The workers of this process that are not yet reaped: their own families do that.
struct Register {
  std::mutex mutex;
  std::set<pid_t> workers;
};

Register& all_workers() {
  static Register& all = *new Register;  // never destroyed: a worker may end later than static objects are destroyed
  return all;
}

void pause_briefly() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

}  // namespace

Family::Family(const base::ProcessLimits& limits) : group_("worker", limits) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::string Family::marker() const { return std::string(kWorkerVariable) + "=" + group_.name(); }

Result<pid_t> Family::start(const std::function<Result<pid_t>()>& fork) {
  const std::scoped_lock lock(all_workers().mutex);
  Result<pid_t> pid = fork();
  if (!pid) return pid;
  worker_ = *pid;
  group_.watch(worker_);  // the worker enters the groups by itself
  all_workers().workers.insert(worker_);
  return pid;
}

std::optional<int> Family::wait(int milliseconds) {
  int status = -1;
  if (!child_ended(worker_, std::chrono::milliseconds(milliseconds), &status)) return std::nullopt;
  reaped_ = true;
  return status;
}

bool Family::end() {
  if (worker_ == 0) return true;
  if (!reaped_) kill(worker_, SIGKILL);
  kill(-worker_, SIGKILL);
  group_.kill();
  const bool dead = reaped_ || wait(kPatienceMs).has_value();
  {
    const std::scoped_lock lock(all_workers().mutex);
    all_workers().workers.erase(worker_);
  }
  end_orphans();
  worker_ = 0;
  return dead;
}

/// @param child  a child of this process, perhaps only since its parent ended
bool Family::is_member(pid_t child) const {
  const std::string number = std::to_string(child);
  const ProcessStat state = state_of(number);
  if (state.session == static_cast<unsigned>(worker_)) return true;
  if (cgroup() >= 0 && cgroup2_path(number).ends_with("/" + group_.name())) return true;
  const std::string name = environment_of(child, kWorkerVariable);
  if (!name.empty()) return name == group_.name();
  // It hides its origin, or is a zombie. Zombies of any family may be reaped; a running process must not be another
  // family's.
  static const bool has_worker_mark = oom_score_of("self") == kWorkerOomScore;
  if (has_worker_mark || oom_score_of(number) != kWorkerOomScore) return false;
  return state.ended() || all_workers().workers.empty();
}

bool Family::end_some_orphans() {
  const std::scoped_lock lock(all_workers().mutex);
  bool found = false;
  for (const pid_t child : children_of_this_process()) {
    if (all_workers().workers.contains(child) || !is_member(child)) continue;
    found = true;
    kill(child, SIGKILL);
    waitpid(child, nullptr, WNOHANG);
  }
  return found;
}

void Family::end_orphans() {
  const auto deadline = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  // Their own children become children of this process in turn, so look again.
  while (end_some_orphans() && Clock::now() < deadline) pause_briefly();
}

}  // namespace slipway::core
