// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/registrar.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <poll.h>

#include <slipway/unix_socket.hpp>

#include "deviceplugin/service/endpoint/stale_sockets.hpp"

namespace slipway::deviceplugin {
namespace {

// Interval for changes that inotify does not report, such as mounts over a folder.
constexpr std::chrono::seconds kLook{10};
// Interval without inotify.
constexpr std::chrono::milliseconds kLookWithout{250};
// Interval while another plugin has the lock; the end of its connection is reported at once.
constexpr std::chrono::seconds kStandBy{1};
// A process that exits closes its files one after the other: the lock is free a moment after the connection's end.
constexpr std::chrono::milliseconds kLastMoment{1'000};
constexpr std::chrono::milliseconds kLastMomentStep{5};
// Within a millisecond kubelet notices the end of a stream.
constexpr std::chrono::milliseconds kNotice{20};
// kubelet then closes its connection.
constexpr std::chrono::milliseconds kEndStep{1};
constexpr int kEndSteps = 100;

}  // namespace

Registrar::Registrar(RootDir root, EndpointPaths paths, Endpoint::Log log)
    : root_(std::move(root)),
      wanted_(std::move(paths)),
      log_(std::move(log)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Registrar::~Registrar() { close(); }

void Registrar::close() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  board_->wake();
  thread_.join();
}

std::map<std::string, EndpointStatus> Registrar::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Registrar::use(EndpointPaths paths) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(paths);
  }
  board_->wake();
}

void Registrar::set_log(Endpoint::Log log) {
  const std::lock_guard lock(mutex_);
  log_ = std::move(log);
}

void Registrar::set_on_change(std::function<void()> on_change) {
  const std::lock_guard lock(mutex_);
  on_change_ = std::move(on_change);
}

void Registrar::log(const char* level, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (log_) log_(level, text);
}

void Registrar::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    board_->take();
    take_paths();
    const auto snapshot = board_->now();
    if (snapshot != listed_) lists_.clear();
    listed_ = snapshot;
    const auto due = pass(*snapshot, stop);
    if (!stop.stop_requested()) wait(due);
  }
  end_streams();
  if (lock_) lock_->release();  // before the sockets are removed, since a waiting plugin then tries to take the lock
  endpoints_.clear();
}

/// Takes new paths, and ends the endpoints that are elsewhere now.
void Registrar::take_paths() {
  {
    const std::lock_guard lock(mutex_);
    if (lock_ && wanted_ == paths_) return;
    if (lock_ && wanted_.folder != paths_.folder) lock_.reset();
    paths_ = wanted_;
  }
  end_all();
  if (!lock_) lock_.emplace(root_, paths_.folder);
  for (const std::string& socket : remove_stale_sockets(root_, paths_.registry))
    log("info", "removed " + socket + ", a socket of an earlier start on which no process listens");
  watch_files();
}

void Registrar::watch_files() {
  std::vector<std::string> paths{paths_.folder};
  if (!paths_.kubelet_socket.empty()) paths.push_back(paths_.kubelet_socket);
  if (paths_.in_registry) paths.push_back(paths_.registry);
  auto files = FileWatch::open(root_, std::move(paths));
  if (files) {
    files_.emplace(std::move(*files));
    return;
  }
  files_.reset();
  log("warning", "kubelet's sockets cannot be watched, so they are checked four times a second: " + files.error().what);
}

/// Until something happens.
void Registrar::wait(Clock::time_point until) {
  const bool watches = files_ && files_->problem().empty();
  const Clock::duration limit = watches ? Clock::duration(kLook) : Clock::duration(kLookWithout);
  const Clock::time_point now = Clock::now();
  const auto left = std::clamp<Clock::duration>(until - std::min(now, until), {}, limit);
  // Rounds up: a moment too early there would be nothing to do yet.
  const int milliseconds = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  std::array<pollfd, 3> watched{
      {{board_->fd(), POLLIN, 0}, {files_ ? files_->fd() : -1, POLLIN, 0}, {other_end_.get(), 0, 0}}};
  const int ready = ::poll(watched.data(), watched.size(), milliseconds);
  if (ready > 0 && watched[2].revents != 0) {
    other_end_.reset();
    other_gone_ = Clock::now();
  }
  if (!files_) return;
  if (ready == 0)
    (void)files_->look();
  else if (watched[1].revents != 0)
    (void)files_->take();
}

Registrar::Clock::time_point Registrar::pass(const Snapshot& snapshot, const std::stop_token& stop) {
  if (!lock_->hold()) return wait_for_lock(snapshot);
  // Gives kubelet time to notice, as end_streams() does, for the streams of a process that has exited.
  const Clock::time_point noticed = other_gone_ + kNotice;
  if (!other_.empty() && Clock::now() < noticed) return noticed;
  other_.clear();
  other_end_.reset();
  logged_lock_ = false;
  return tick_all(snapshot, stop);
}

/// Two plugins that serve the same kubelet would take the resources from each other without end.
Registrar::Clock::time_point Registrar::wait_for_lock(const Snapshot& snapshot) {
  end_all();
  for (const auto& [name, resource] : snapshot.resources) {
    if (other_end_) break;
    const std::string socket = paths_.folder + "/" + socket_name(name);
    auto end = connect_to(root_, socket);
    if (!end) continue;
    other_end_ = std::move(*end);
    const auto pid = listener_of(other_end_);
    const std::string other = pid ? listener_text(*pid) : std::string();
    if (!other.empty() && std::exchange(other_, other) != other)
      log("info",
          "another slipway device plugin, " + other + ", serves this kubelet; this one takes over when it ends");
  }
  const Clock::time_point now = Clock::now();
  const bool last_moment = now < other_gone_ + kLastMoment;
  const bool is_stranger = !other_end_ && !last_moment && !snapshot.resources.empty();
  std::string problem = "another slipway device plugin" + (other_.empty() ? "" : ", " + other_ + ",") +
                        " serves this kubelet; this one takes over when it ends";
  if (is_stranger) {
    const std::string holder = lock_->holder();
    problem = (holder.empty() ? "a process that cannot be seen from here" : holder) +
              " holds the lock of kubelet's folder " + paths_.folder +
              ", but no slipway listens there: no GPU is offered until that process ends (`lslocks` shows it)";
  }
  if (is_stranger && !std::exchange(logged_lock_, true)) log("warning", problem);
  std::map<std::string, EndpointStatus> seen;
  for (const auto& [name, resource] : snapshot.resources) seen[name].problem = problem;
  publish(std::move(seen));
  return now + (last_moment ? Clock::duration(kLastMomentStep) : Clock::duration(kStandBy));
}

std::unique_ptr<Endpoint> Registrar::make_endpoint(const std::string& name, const std::stop_token& stop) {
  return std::make_unique<Endpoint>(
      Endpoint::EndpointContext{grpc_, root_, [this](const char* level, const std::string& text) { log(level, text); },
                                stop},
      paths_, name,
      PluginCalls{
          .allocate = [board = board_,
                       name](const std::vector<std::string>& ids) { return board->allocate(name, ids); },
          .prefer = [board = board_, name](const PreferredRequest& desired) { return board->prefer(name, desired); },
          .on_change = [board = board_] { board->wake(); }});
}

Registrar::Clock::time_point Registrar::tick_all(const Snapshot& snapshot, const std::stop_token& stop) {
  for (auto each = endpoints_.begin(); each != endpoints_.end();) {
    const bool wanted = snapshot.resources.contains(each->first);
    if (!wanted) each->second->withdraw();
    each = wanted ? std::next(each) : endpoints_.erase(each);
  }
  std::map<std::string, EndpointStatus> seen;
  Clock::time_point due = Clock::time_point::max();
  for (const auto& [name, resource] : snapshot.resources) {
    if (stop.stop_requested()) break;
    std::unique_ptr<Endpoint>& endpoint = endpoints_[name];
    if (!endpoint) endpoint = make_endpoint(name, stop);
    DeviceList& list = lists_[name];
    if (!list) list = list_of(snapshot, resource);
    endpoint->tick(list, Clock::now());
    due = std::min(due, endpoint->due());
    seen[name] = endpoint->status();
  }
  publish(std::move(seen));
  return due;
}

void Registrar::publish(std::map<std::string, EndpointStatus> status) {
  const std::lock_guard lock(mutex_);
  if (status == status_) return;
  status_ = std::move(status);
  if (on_change_) on_change_();
}

/// When a stream ends, kubelet marks the resource as gone, even if another process serves it already. So kubelet gets
/// time to notice before a plugin registers again.
void Registrar::end_streams() {
  for (const auto& [name, endpoint] : endpoints_) endpoint->end_streams();
  const auto noticed = [this] {
    return std::ranges::all_of(endpoints_, [](const auto& each) { return each.second->connections() == 0; });
  };
  for (int i = 0; i < kEndSteps && !noticed(); ++i) std::this_thread::sleep_for(kEndStep);
}

void Registrar::end_all() {
  end_streams();
  endpoints_.clear();
}

}  // namespace slipway::deviceplugin
