// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/daemon.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "deviceplugin/service/mps/pipe/pipe_folder.hpp"

namespace slipway::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswerLimit{5'000};  // an answer takes 50 ms; load on the machine must not end running work
constexpr milliseconds kSilenceLimit{30'000};
constexpr milliseconds kLookLimit{1'000};  // longer reads continue in a later turn
constexpr milliseconds kStartStep{200};
constexpr milliseconds kAskEvery{300'000};         // each question writes five lines to its log
constexpr milliseconds kAskSilentOneEvery{5'000};  // after it failed to answer
constexpr milliseconds kFirstDaemonBackOff{1'000};
constexpr milliseconds kLongestDaemonBackOff{60'000};
constexpr milliseconds kDaemonEndLimit{5'000};
constexpr std::size_t kMostServers = 64;  // one for each user of its clients, of which there are 60 at most

bool has_digit(const std::string& text) { return text.find_first_of("0123456789") != std::string::npos; }

bool is_process_id(const std::string& word) {
  constexpr std::size_t kMostDigits = 10;
  return word.size() <= kMostDigits && word.find_first_not_of("0123456789") == std::string::npos;
}

Error gone_error(const std::string& what) {
  return {.code = ErrorCode::not_found,
          .what = what,
          .where = {},
          .next = "see its log: `journalctl -u 'slipway-mps-*'`, or log/control.log beside its pipes",
          .details = {}};
}

/// Pods can write in that folder, and a process that takes it from the daemon ends MPS for all clients.
Error taken_error(const std::string& what, const std::string& folder) {
  return {.code = ErrorCode::denied,
          .what = what,
          .where = folder,
          .next = "look for the pod that writes in " + folder,
          .details = {}};
}

}  // namespace

std::string words_of(const Error& error) {
  return error.what + (error.where.empty() ? "" : ": " + error.where) +
         (error.next.empty() ? "" : " (" + error.next + ")");
}

MpsDaemon::MpsDaemon(MpsProgram program, std::string resource, Log log)
    : program_(std::move(program)), resource_(std::move(resource)), log_(std::move(log)) {}

void MpsDaemon::tick(const MpsSettings& settings, const MpsBudget& budget) {
  const auto now = Clock::now();
  if (const Status holds = usable(); !holds) {
    if (lost(holds.error(), now, unseen_since_)) failed(holds.error(), budget);
    return;
  }
  if (state_ != State::stopped) unseen_since_.reset();
  if (state_ == State::ready && told_ != settings) next_ = now;
  if (now < next_ || budget.spent()) return;
  if (state_ == State::stopped) {
    if (const Status started = start(now); !started) return failed(started.error(), budget);
    if (state_ == State::stopped || now < next_) return;  // a daemon that was taken over is ready as soon as it answers
  }
  Status told = reachable();
  if (told) told = send_settings(settings, budget);
  if (told) return settled(settings, now);
  next_ = now;
  if (!budget.spent()) next_ += state_ == State::starting ? kStartStep : kAskSilentOneEvery;
  if (lost(told.error(), now, silent_since_)) failed(told.error(), budget);
}

/// Checks that the daemon has not ended and that its clients can reach it.
Status MpsDaemon::usable() {
  if (state_ == State::stopped) return {};
  if (child_ > 0 && child_ended(child_, {})) {
    child_ = 0;
    return gone_error("the MPS control daemon ended");
  }
  if (!process_) return {};
  if (!process_.alive()) return gone_error("the MPS control daemon ended");
  SLIPWAY_TRY(holder, look_.lock_user(kLookLimit));
  if (holder == process_.pid()) return {};
  // A process that exits loses its locks a moment before it disappears.
  constexpr int kSteps = 10;
  for (int i = 0; i < kSteps && process_.alive(); ++i) std::this_thread::sleep_for(milliseconds(10));
  if (!process_.alive()) return gone_error("the MPS control daemon ended");
  return taken_error("another process has removed the lock of the MPS control daemon", program_.pipe_folder(resource_));
}

/// Checks that the sockets in the daemon's folder belong to the daemon.
Status MpsDaemon::reachable() {
  SLIPWAY_TRY(users, look_.users(kLookLimit));
  if (!process_) process_ = find_daemon(program_, users);
  const Error silence{.code = ErrorCode::timed_out, .what = "the MPS control daemon does not answer"};
  if (!process_) return silence;
  switch (listener(users, process_)) {
    case MpsListener::daemon:
      return {};
    case MpsListener::nobody:
      return silence;
    case MpsListener::other:
      break;
  }
  return taken_error("another process has replaced the socket of the MPS control daemon",
                     program_.pipe_folder(resource_));
}

Result<std::string> MpsDaemon::tell(const std::string& command, const MpsBudget& budget) const {
  if (budget.spent())
    return Error{.code = ErrorCode::timed_out, .what = "the MPS control daemon is slow to answer", .where = command};
  return send_to_mps_daemon(program_, resource_, command, std::min(kAnswerLimit, budget.left()));
}

Status MpsDaemon::start(Clock::time_point now) {
  const auto taken_over = take_over();
  if (!taken_over) problem_ = words_of(taken_over.error());
  if (!taken_over) next_ = now + kStartStep;
  if (!taken_over || *taken_over) return {};
  end_mps_daemons(program_, resource_);
  SLIPWAY_CHECK(renew_resource_folder(program_.folder(resource_)));
  look_.forget();
  SLIPWAY_CHECK(make_mps_folders(program_, resource_));
  SLIPWAY_TRY(child, start_mps_daemon(program_, resource_));
  child_ = child;
  silent_since_ = now;
  next_ = now + kStartStep;
  state_ = State::starting;
  return {};
}

Result<bool> MpsDaemon::take_over() {
  const auto users = look_.users(kLookLimit);
  if (!users && !lost(users.error(), Clock::now(), unseen_since_)) return users.error();
  unseen_since_.reset();
  if (users) process_ = find_daemon(program_, *users);
  if (!process_) return false;
  log_("info", resource_ + ": took over the MPS control daemon that was running");
  renew_devices(program_, resource_);
  silent_since_ = Clock::now();
  state_ = State::starting;
  return true;
}

/// The daemon reports no error when it ignores a limit, and exits with 0; a query then shows no limit. The query
/// returns whole gigabytes, so a limit that may be set already is set once more: that affects later servers only.
Status MpsDaemon::set_memory_limit(const MpsSettings::Limit& limit, const MpsBudget& budget) const {
  const std::string index = std::to_string(limit.index);
  const auto set = tell(memory_command(limit), budget);
  if (!set && set.error().code == ErrorCode::timed_out) return set.error();
  const auto now = tell("get_default_device_pinned_mem_limit " + index, budget);
  if (!now && now.error().code == ErrorCode::timed_out) return now.error();
  // Drivers of the 470 branch have no memory limit; the rest of MPS works there.
  if (!set || !now || now->empty() || !has_digit(now->substr(0, 1)))
    log_("warning",
         resource_ + ": clients get no memory limit on GPU " + index + ": the MPS control daemon does not accept it");
  return {};
}

Status MpsDaemon::set_threads(unsigned percentage, const MpsBudget& budget) const {
  SLIPWAY_CHECK(tell(threads_command(percentage), budget));
  SLIPWAY_TRY(now, tell("get_default_active_thread_percentage", budget));
  if (std::abs(std::atof(now.c_str()) - percentage) < 1) return {};
  return Error{.code = ErrorCode::invalid,
               .what = "the MPS control daemon gives its clients " + now + " % of the threads, not " +
                       std::to_string(percentage)};
}

Status MpsDaemon::answers(const MpsBudget& budget) const {
  if (tell("get_default_active_thread_percentage", budget)) return {};
  return Error{.code = ErrorCode::timed_out, .what = "the MPS control daemon does not answer any more"};
}

/// Continues where the previous turn ran out of time.
Status MpsDaemon::send_settings(const MpsSettings& settings, const MpsBudget& budget) {
  if (told_ == settings) return answers(budget);
  if (telling_ != settings) {
    telling_ = settings;
    limits_told_ = 0;
  }
  for (; limits_told_ < settings.limits.size(); ++limits_told_) {
    const MpsSettings::Limit& limit = settings.limits[limits_told_];
    if (limit.memory_mib == 0) continue;
    SLIPWAY_CHECK(set_memory_limit(limit, budget));
    silent_since_.reset();  // it answers, but slowly
  }
  return set_threads(settings.thread_percentage, budget);
}

void MpsDaemon::settled(const MpsSettings& settings, Clock::time_point now) {
  if (state_ != State::ready) log_("info", resource_ + ": the MPS control daemon is ready");
  next_ = now + kAskEvery;
  told_ = settings;
  telling_.reset();
  problem_.clear();
  back_off_ = {};
  silent_since_.reset();
  state_ = State::ready;
}

/// True when new clients cannot use the daemon, and not because of a short silence.
bool MpsDaemon::lost(const Error& why, Clock::time_point now, std::optional<Clock::time_point>& since) {
  if (why.code != ErrorCode::timed_out && why.code != ErrorCode::io) return true;
  if (!since) since = now;
  return now - *since > kSilenceLimit;
}

void MpsDaemon::failed(const Error& why, const MpsBudget& budget) {
  const std::string words = words_of(why);
  if (problem_ != words)
    log_("warning",
         resource_ + ": " + words +
             "; slipway starts the daemon again, and containers that run now can use it only after their restart");
  stop(budget);
  problem_ = words;
  back_off_ = std::min(std::max(2 * back_off_, kFirstDaemonBackOff), kLongestDaemonBackOff);
  next_ = Clock::now() + back_off_;
}

/// A server outlives its clients; only clients would lose their work.
bool MpsDaemon::has_clients(const MpsBudget& budget) const {
  const auto servers = tell("get_server_list", budget);
  if (!servers) return true;
  std::istringstream lines(*servers);
  std::size_t count = 0;
  for (std::string server; lines >> server;) {
    if (++count > kMostServers || !is_process_id(server)) return true;
    const auto clients = tell("get_client_list " + server, budget);
    if (!clients || has_digit(*clients)) return true;
  }
  return false;
}

bool MpsDaemon::stop_when_idle(const MpsBudget& budget) {
  if (state_ == State::stopped) return true;
  if (budget.spent()) return false;
  Status holds = usable();
  if (holds) holds = reachable();
  if (holds) silent_since_.reset();
  if (holds ? has_clients(budget) : !lost(holds.error(), Clock::now(), silent_since_)) return false;
  if (!holds) log_("warning", resource_ + ": " + words_of(holds.error()) + "; it is ended");
  stop(budget);
  return true;
}

void MpsDaemon::stop(const MpsBudget& budget) {
  if (process_)
    if (const auto users = look_.users(kLookLimit);
        users && listener(*users, process_) == MpsListener::daemon && tell("quit", budget))
      (void)process_.ends(kDaemonEndLimit);
  process_.kill();
  if (child_ > 0 && !process_) MpsProcess::of(child_).kill();
  end_mps_daemons(program_, resource_);
  if (child_ > 0) (void)child_ended(child_, kDaemonEndLimit);
  child_ = 0;
  process_ = {};
  state_ = State::stopped;
  told_.reset();
  telling_.reset();
  silent_since_.reset();
  unseen_since_.reset();
  next_ = {};
  problem_ = "the MPS control daemon was stopped";
}

}  // namespace slipway::deviceplugin
