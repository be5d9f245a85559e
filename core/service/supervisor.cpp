// SPDX-License-Identifier: Apache-2.0
#include "core/service/supervisor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <slipway/process/sockets.hpp>
#include <slipway/watch/file_watch.hpp>

#include "core/service/control_socket.hpp"
#include "core/service/notify.hpp"
#include "core/service/quiesce_tracker.hpp"
#include "core/worker/client/worker.hpp"
#include "sandbox/unit/granted_access.hpp"

namespace slipway::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kStopLimit{20};
constexpr seconds kQuiesceLimit{30};
/// The interval for checking the devices and folders that the unit grants. Folders are watched; /proc/devices cannot
/// be.
constexpr seconds kLookAtGranted{10};
/// The time after which units that wait for the service start anyway.
constexpr seconds kHoldUpLimit{10};
constexpr std::size_t kMostReasonsKept = 64;

using Clock = std::chrono::steady_clock;

/// Identifies the file at a path; all zero if not found.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  timespec changed{};
  bool operator==(const FileStamp& other) const {
    return device == other.device && inode == other.inode && changed.tv_sec == other.changed.tv_sec &&
           changed.tv_nsec == other.changed.tv_nsec;
  }
};

FileStamp stamp_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? FileStamp{status.st_dev, status.st_ino, status.st_ctim} : FileStamp();
}

Ui::Level level_of(const std::string& word) {
  if (word == "debug") return Ui::Level::debug;
  return word == "warning" ? Ui::Level::warning : Ui::Level::info;
}

Result<Fd> open_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, number);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  Fd fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return system_error("watch", "signals", errno);
  return fd;
}

class Supervisor {
 public:
  /// @param started  until this time units may wait for the service; empty: none waits
  Supervisor(const ServiceOptions& options, const RootDir& root, Ui& ui, Notify notify, ControlSocket control,
             std::optional<Clock::time_point> started)
      : options_(options),
        root_(root),
        ui_(ui),
        control_(std::move(control)),
        notify_(std::move(notify)),
        started_(started) {}
  Status open();
  Status run();

 private:
  Status watch(int fd) const;
  WorkerEvents events();
  void handle_watched();
  void handle_signals();
  void handle_request(int client, const std::string& op);
  void told(std::uint64_t id, const Result<Json>& answer);
  void ask(const char* op);
  void took_too_long();
  void end_because(Error error);
  void stop();
  void reload();
  void begin_reload();
  Status start_own_worker();
  Status limit_start();
  void count_as_started();
  static bool refuses(const Error& why);
  bool goes_back(const Error& why);
  Status watch_granted();
  void check_granted_access();
  void log(Ui::Level level, const std::string& text) { ui_.log(level, {options_.component, "service"}, text); }
  Json state() const;
  Status ended(const Result<Json>& reply);

  const ServiceOptions& options_;
  const RootDir& root_;
  Ui& ui_;
  ControlSocket control_;
  Notify notify_;
  QuiesceTracker quiesce_tracker_;
  ServiceConfig config_;
  struct AppliedConfig {
    Json section, host;
  };
  AppliedConfig running_;                ///< its configuration at the start; config_ may be newer
  std::optional<AppliedConfig> worked_;  ///< the last configuration with which it was ready
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Worker> former_;  ///< runs until the new one is ready
  FileStamp file_;                  ///< the file that the worker was started from
  std::vector<Fd> sockets_;         ///< from systemd, passed to each worker
  std::optional<Clock::time_point> started_;
  Fd start_timer_;
  Fd signals_;
  Fd timer_;          ///< the limit of an open request
  Fd granted_timer_;  ///< the next check of what the unit grants
  Fd poll_;
  std::uint64_t open_question_ = 0;
  std::optional<sandbox::GrantedAccess> granted_;  ///< the access that its unit grants; empty without a unit
  std::optional<FileWatch> granted_folders_;       ///< the granted folders that it writes to
  std::string status_;
  std::vector<std::string> reasons_;
  std::string refused_;  ///< the problem of a newer spec that it does not use
  bool works_ = false;
  bool stopping_ = false;
  bool reloading_ = false;
  bool hands_over_ = false;       ///< to a new worker, while this one keeps running
  bool replaces_ = false;         ///< by a new worker, once this one has ended
  bool reload_wanted_ = false;    ///< reload as soon as no client holds it quiesced
  std::optional<Error> because_;  ///< the reason why it was ended at once
};

Status Supervisor::open() {
  SLIPWAY_TRY(signals, open_signals());
  signals_ = std::move(signals);
  timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  poll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!timer_ || !poll_) return system_error("make", "a descriptor", errno);
  for (const int fd : {signals_.get(), timer_.get(), control_.fd()}) SLIPWAY_CHECK(watch(fd));
  control_.on_request = [this](int client, const std::string& op) { handle_request(client, op); };
  control_.on_gone = [this](int client) { quiesce_tracker_.release(client); };
  quiesce_tracker_.ask = [this](const char* op) { ask(op); };
  quiesce_tracker_.answer = [this](int client, const Json& value) { control_.answer(client, value); };
  quiesce_tracker_.failed = [this](const Error& error) { end_because(error); };
  SLIPWAY_TRY(config, options_.read());
  config_ = std::move(config);
  if (notify_.listened_to()) SLIPWAY_CHECK(watch_granted());
  SLIPWAY_TRY(sockets, take_systemd_sockets());
  sockets_ = std::move(sockets);
  SLIPWAY_CHECK(limit_start());
  return start_own_worker();
}

Status Supervisor::start_own_worker() {
  WorkerOptions worker;
  worker.plugin_path = config_.file.path;
  worker.is_program = config_.file.is_program;
  worker.name = options_.component;
  worker.memory_limit_bytes = 0;  // the unit's MemoryMax limits a service
  worker.trust_environment = !options_.own_environment;
  worker.environment = config_.environment;
  for (const Fd& socket : sockets_) worker.sockets.push_back(socket.get());
  file_ = stamp_of(config_.file.path);
  SLIPWAY_TRY(started, start_worker(worker));
  worker_ = std::move(started);
  return {};
}

Status Supervisor::limit_start() {
  if (!started_) return {};
  start_timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!start_timer_) return system_error("make", "a timer", errno);
  const auto left = std::max<std::chrono::nanoseconds>(*started_ - Clock::now(), std::chrono::nanoseconds(1));
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  const itimerspec limit{{}, {left.count() / kNanoseconds, left.count() % kNanoseconds}};
  ::timerfd_settime(start_timer_.get(), 0, &limit, nullptr);
  return watch(start_timer_.get());
}

/// Tells systemd that the service has started, ready or not: a hanging driver must not delay other units.
void Supervisor::count_as_started() {
  if (works_ || stopping_) return;
  log(Ui::Level::warning, "is not ready yet; the units that come after it are not held up any longer");
  notify_.ready();
}

Status Supervisor::run() {
  for (;;) {
    reasons_.clear();  // a service that starts again reports them again
    running_ = {config_.section, config_.host};
    Json request{{"component", options_.component}, {"spec", running_.section}, {"host", running_.host}};
    if (const auto every = notify_.alive_every()) request["alive_ms"] = every->count();
    const auto reply = worker_->call("service", request, milliseconds::max(), events());
    const bool was_ready = std::exchange(works_, false);
    const bool newer = std::exchange(reloading_, false);
    if (stopping_ || because_) return ended(reply);
    if (std::exchange(hands_over_, false)) {
      former_ = std::move(worker_);
      SLIPWAY_CHECK(start_own_worker());
      continue;
    }
    if (std::exchange(replaces_, false) && reply) {
      worker_.reset();
      SLIPWAY_CHECK(start_own_worker());
      continue;
    }
    if (reply ? !newer : was_ready || !refuses(reply.error())) return ended(reply);
    if (!newer && !goes_back(reply.error())) return ended(reply);
  }
}

/// True when the service rejected its configuration. Otherwise its worker has ended, or the plugin cannot be trusted.
bool Supervisor::refuses(const Error& why) {
  return why.code != ErrorCode::plugin_defect && why.code != ErrorCode::timed_out;
}

/// Returns to the former spec when the component itself rejects a new spec: a service that worked keeps running.
bool Supervisor::goes_back(const Error& why) {
  if (!worked_ || (worked_->section == running_.section && worked_->host == running_.host)) return false;
  refused_ = "the new spec is refused, the service keeps the previous one: " + why.what +
             (why.where.empty() ? "" : " (" + why.where + ")");
  log(Ui::Level::warning, refused_);
  config_.section = worked_->section;
  config_.host = worked_->host;
  return true;
}

Status Supervisor::ended(const Result<Json>& reply) {
  notify_.stopping();
  if (because_) return *because_;
  if (!reply) return reply.error();
  if (stopping_) return {};
  return Error{ErrorCode::plugin_defect,
               "the service of " + options_.component + " ended by itself",
               config_.file.path,
               "please report this to the plugin's authors: it runs until it is told to stop",
               {}};
}

WorkerEvents Supervisor::events() {
  WorkerEvents events;
  events.log = [this](const std::string& level, const std::string& text) { log(level_of(level), text); };
  events.watched = poll_.get();
  events.on_watched = [this] { handle_watched(); };
  events.told = [this](std::uint64_t id, const Result<Json>& answer) { told(id, answer); };
  events.works = [this] {
    if (std::exchange(works_, true)) return;
    worked_ = running_;
    former_.reset();
    notify_.ready();
    log(Ui::Level::info, "ready");
  };
  events.status = [this](const std::string& text) {
    status_ = text;
    notify_.status(text);
  };
  events.reasons = [this](const std::vector<std::string>& lines) {
    reasons_.assign(lines.begin(),
                    lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kMostReasonsKept)));
  };
  events.alive = [this] {
    notify_.alive();
    check_granted_access();
  };
  return events;
}

void Supervisor::handle_watched() {
  std::uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof expirations) == sizeof expirations) took_too_long();
  if (::read(start_timer_.get(), &expirations, sizeof expirations) == sizeof expirations) count_as_started();
  const bool due = ::read(granted_timer_.get(), &expirations, sizeof expirations) == sizeof expirations;
  if ((granted_folders_ && granted_folders_->take()) || due) check_granted_access();
  control_.handle();
  handle_signals();
}

void Supervisor::handle_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGHUP)
      reload();
    else
      stop();
  }
}

void Supervisor::handle_request(int client, const std::string& op) {
  if (op == "quiesce") {
    former_.reset();  // the worker cannot be asked any more and has the driver open: the service is quiesced only once
                      // it has ended
    return quiesce_tracker_.hold(client);
  }
  if (op == "status") return control_.answer(client, state());
  if (op == "resume") {
    quiesce_tracker_.release(client);
    return control_.answer(client, {{"ok", true}});
  }
  const Error unknown{ErrorCode::unsupported, "a service has no operation '" + op + "'", {}, {}, {}};
  control_.answer(client, {{"ok", false}, {"error", to_json(unknown)}});
}

Json Supervisor::state() const {
  std::vector<std::string> reasons = reasons_;
  if (!refused_.empty()) reasons.push_back(refused_);
  return {{"ok", true},
          {"component", options_.component},
          {"ready", works_},
          {"quiet", quiesce_tracker_.quiesced()},
          {"held_by", quiesce_tracker_.holders()},
          {"status", status_},
          {"reasons", reasons}};
}

void Supervisor::ask(const char* op) {
  const auto id = worker_->tell(op, {{"component", options_.component}});
  if (!id) return quiesce_tracker_.answered(id.error());
  open_question_ = *id;
  const itimerspec limit{{}, {kQuiesceLimit.count(), 0}};
  ::timerfd_settime(timer_.get(), 0, &limit, nullptr);
}

void Supervisor::told(std::uint64_t id, const Result<Json>& answer) {
  if (id != open_question_) {
    if (!answer) log(Ui::Level::warning, answer.error().what);
    return;
  }
  open_question_ = 0;
  const itimerspec none{};
  ::timerfd_settime(timer_.get(), 0, &none, nullptr);
  quiesce_tracker_.answered(answer ? Status() : Status(answer.error()));
  if (reload_wanted_ && quiesce_tracker_.idle()) begin_reload();
}

/// Ends the process, the surest way to release a driver; systemd restarts it.
void Supervisor::took_too_long() {
  const Error error{ErrorCode::timed_out,
                    "the service of " + options_.component + " did not stop its work within 30 s, and is killed",
                    config_.file.path,
                    "try again; the service starts afresh",
                    {}};
  quiesce_tracker_.fail_waiting(error);
  end_because(error);
}

void Supervisor::end_because(Error error) {
  because_ = std::move(error);
  worker_->end_within(milliseconds(0));
}

void Supervisor::stop() {
  if (stopping_)
    return end_because({ErrorCode::cancelled, "was told to stop twice, and has ended at once", {}, {}, {}});
  stopping_ = true;
  notify_.stopping();
  log(Ui::Level::info, "stopping");
  if (!reloading_) (void)worker_->tell("service.stop", {{"component", options_.component}}).ok();
  worker_->end_within(kStopLimit);
}

/// Watches the granted folders; where that is not possible, the timer is enough.
Status Supervisor::watch_granted() {
  if (config_.device_classes.empty() && config_.writes.empty()) return {};
  granted_.emplace(config_.device_classes, config_.writes, root_,
                   std::string(kControlFolder) + "/" + options_.component + ".closed");
  granted_timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!granted_timer_) return system_error("make", "a timer", errno);
  const itimerspec every{{kLookAtGranted.count(), 0}, {kLookAtGranted.count(), 0}};
  ::timerfd_settime(granted_timer_.get(), 0, &every, nullptr);
  SLIPWAY_CHECK(watch(granted_timer_.get()));
  // Uses this process' own root, as GrantedAccess does, not the root that the service is for.
  SLIPWAY_TRY(own_root, RootDir::open("/"));
  auto folders = FileWatch::open(std::move(own_root), config_.writes);
  if (!folders) return {};
  granted_folders_ = std::move(*folders);
  return watch(granted_folders_->fd());
}

Status Supervisor::watch(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return system_error("watch", "a descriptor", errno);
  return {};
}

/// Ends the service when the access granted at its start has changed: systemd restarts it with what exists now.
void Supervisor::check_granted_access() {
  if (!granted_ || stopping_ || !quiesce_tracker_.idle()) return;
  const std::string lost = granted_->lost();
  if (lost.empty()) return;
  log(Ui::Level::info, lost);
  stop();
}

void Supervisor::reload() {
  if (stopping_) return;
  auto config = options_.read();
  if (!config) {
    refused_ = "the spec was not read again, the service keeps the previous one: " + config.error().what + " (" +
               config.error().where + ")";
    log(Ui::Level::warning, refused_);
    return;
  }
  refused_.clear();
  config_.file = std::move(config->file);
  config_.section = std::move(config->section);
  config_.host = std::move(config->host);
  config_.hands_over = config->hands_over;
  if (reloading_) return;  // it starts with the configuration that was just read
  reload_wanted_ = true;
  if (quiesce_tracker_.idle())
    begin_reload();
  else
    log(Ui::Level::info, "paused for an apply; the new spec is used after the apply");
}

void Supervisor::begin_reload() {
  reload_wanted_ = false;
  reloading_ = true;
  notify_.reloading();
  replaces_ = stamp_of(config_.file.path) != file_;
  if (replaces_ && config_.hands_over) {
    log(Ui::Level::info, "its file was replaced: the new one starts, and takes over when it is ready");
    replaces_ = false;
    hands_over_ = true;
    return worker_->leave();
  }
  log(Ui::Level::info, replaces_ ? "its file was replaced: starting afresh" : "starting again with the new spec");
  (void)worker_->tell("service.stop", {{"component", options_.component}, {"again", !replaces_}}).ok();
  worker_->end_within(kStopLimit);
}

}  // namespace

std::vector<std::string> texts_in(const Json& left, const char* key) {
  std::vector<std::string> texts;
  if (const auto found = left.find(key); found != left.end() && found->is_array())
    for (const Json& text : *found)
      if (text.is_string()) texts.push_back(text);
  return texts;
}

Status run_supervised(const ServiceOptions& options, const RootDir& root, Ui& ui) {
  const Notify notify;
  std::optional<Clock::time_point> started;
  if (const auto config = options.read(); config && config->delays_units) started = Clock::now() + kHoldUpLimit;
  SLIPWAY_TRY(control, open_between_changes(root, options.component, notify, started));
  Supervisor supervisor(options, root, ui, notify, std::move(control), started);
  Status status = supervisor.open();
  if (status) status = supervisor.run();
  if (status) return {};
  Error error = status.error();
  if (error.what.find(options.component) == std::string::npos) error.what = options.component + ": " + error.what;
  return error;
}

}  // namespace slipway::core
