// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/family.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/worker/client/process_list.hpp"
#include "core/worker/serve/serve.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceMs = 2000;

/// The workers of this process that were not waited for yet: their own families do that.
struct Register {
  std::mutex mutex;
  std::set<pid_t> workers;
};

Register& all_workers() {
  static Register& all = *new Register;  // never destroyed: a worker may end later than static objects do
  return all;
}

constexpr std::string_view kPrefix = "slipway-worker-";

std::string next_name() {
  static std::atomic<unsigned> count{0};
  return std::string(kPrefix) + std::to_string(getpid()) + "-" + std::to_string(++count);
}

/// Where this process's cgroup2 folder is; empty without one.
std::string own_cgroup() {
  const std::string path = cgroup2_path("self");
  if (path.empty()) return {};
  for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
    if (access((std::string(mount) + "/cgroup.procs").c_str(), F_OK) == 0) return mount + (path == "/" ? "" : path);
  return {};
}

/// Groups that a slipway which was killed could not remove any more. One with a process in it stays: rmdir refuses.
void sweep_cgroups(const std::string& folder) {
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const int owner = std::atoi(name.c_str() + kPrefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) rmdir(entry->path().c_str());
  }
}

void pause_briefly() { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

}  // namespace

Family::Family() : name_(next_name()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  make_cgroup();
}

Family::~Family() {
  if (cgroup_path_.empty()) return;
  for (int i = 0; i < 100 && rmdir(cgroup_path_.c_str()) != 0 && errno == EBUSY; ++i) pause_briefly();
}

std::string Family::marker() const { return std::string(kWorkerVariable) + "=" + name_; }

void Family::make_cgroup() {
  static std::atomic<bool> possible{true};
  if (!possible.load()) return;
  const std::string own = own_cgroup();
  const std::string path = own + "/" + name_;
  static std::once_flag swept;
  if (!own.empty()) std::call_once(swept, sweep_cgroups, own);
  if (own.empty() || mkdir(path.c_str(), 0755) != 0) {
    possible.store(false);
    return;
  }
  cgroup_path_ = path;
  Fd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || faccessat(folder.get(), "cgroup.kill", W_OK, 0) != 0) return possible.store(false);
  cgroup_ = std::move(folder);
}

void Family::kill_cgroup() const {
  if (!cgroup_) return;
  const Fd file(openat(cgroup_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC));
  if (file) (void)!write(file.get(), "1", 1);
}

Result<pid_t> Family::start(const std::function<Result<pid_t>()>& fork) {
  const std::scoped_lock lock(all_workers().mutex);
  Result<pid_t> pid = fork();
  if (!pid) return pid;
  worker_ = *pid;
  all_workers().workers.insert(worker_);
  return pid;
}

std::optional<int> Family::wait(int milliseconds) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    int status = -1;
    const pid_t ended = waitpid(worker_, &status, WNOHANG);
    if (ended == worker_ || (ended < 0 && errno == ECHILD)) {
      reaped_ = true;
      return status;
    }
    if (Clock::now() >= deadline) return std::nullopt;
    pause_briefly();
  }
}

bool Family::end() {
  if (worker_ == 0) return true;
  if (!reaped_) kill(worker_, SIGKILL);
  kill(-worker_, SIGKILL);
  kill_cgroup();
  const bool dead = reaped_ || wait(kPatienceMs).has_value();
  {
    const std::scoped_lock lock(all_workers().mutex);
    all_workers().workers.erase(worker_);
  }
  end_orphans();
  worker_ = 0;
  return dead;
}

/// @param child  of ours, which it may have become when its parent died
bool Family::is_member(pid_t child) const {
  const std::string number = std::to_string(child);
  const ProcessState state = state_of(number);
  if (state.session == worker_) return true;
  if (cgroup_ && cgroup2_path(number).ends_with("/" + name_)) return true;
  const std::string name = environment_of(child, kWorkerVariable);
  if (!name.empty()) return name == name_;
  // It hides its origin, or is dead. The dead of any family may be reaped; the living must not be another family's.
  static const bool marked_ourselves = oom_score_of("self") == kWorkerOomScore;
  if (marked_ourselves || oom_score_of(number) != kWorkerOomScore) return false;
  return state.dead || all_workers().workers.empty();
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
  // What they had started becomes our child in turn, so look again.
  while (end_some_orphans() && Clock::now() < deadline) pause_briefly();
}

}  // namespace slipway::core
