// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/daemon.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace slipway::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswerLimit{5'000};  // it takes 50 ms; a machine under load is no reason to end work
constexpr milliseconds kStartLimit{30'000};
constexpr milliseconds kStartStep{200};
constexpr milliseconds kAskEvery{300'000};     // each question is five lines in its log
constexpr milliseconds kAskOftenEvery{5'000};  // where its process cannot be watched
constexpr milliseconds kFirstDaemonBackOff{1'000};
constexpr milliseconds kLongestDaemonBackOff{60'000};
constexpr int kDaemonEndSteps = 50;
constexpr milliseconds kDaemonEndStep{100};

bool has_digit(const std::string& text) { return text.find_first_of("0123456789") != std::string::npos; }

}  // namespace

MpsDaemon::MpsDaemon(MpsProgram program, std::string resource, Log log)
    : program_(std::move(program)), resource_(std::move(resource)), log_(std::move(log)) {}

MpsDaemon::~MpsDaemon() { (void)stop_when_idle(); }

void MpsDaemon::tick(const MpsSettings& settings, Clock::time_point now) {
  if (state_ != State::stopped && gone()) failed("the MPS control daemon ended", now);
  if (state_ == State::ready && told_ != settings) next_ = now;
  if (now < next_) return;
  switch (state_) {
    case State::stopped:
      start(now);
      break;
    case State::starting:
      next_ = now + kStartStep;
      if (answers())
        configure(settings, now);
      else if (now - started_ > kStartLimit)
        failed("the MPS control daemon does not answer", now);
      break;
    case State::ready:
      next_ = now + kAskOftenEvery;
      if (answers())
        configure(settings, now);
      else if (now - silent_since_.value_or(now) > kStartLimit)
        failed("the MPS control daemon does not answer any more", now);
      else if (!silent_since_)
        silent_since_ = now;
      break;
  }
}

bool MpsDaemon::answers() const {
  return tell_mps_daemon(program_, resource_, "get_default_active_thread_percentage", kAnswerLimit).ok();
}

/// Its process is known to have ended.
bool MpsDaemon::gone() {
  if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) == child_) {
    ended();
    return true;
  }
  return pid_ > 0 && running_mps_daemon(program_, resource_) != pid_;
}

void MpsDaemon::ended() { child_ = pid_ = 0; }

void MpsDaemon::start(Clock::time_point now) {
  started_ = now;
  next_ = now + kStartStep;
  if (const Status made = make_mps_folders(program_, resource_); !made)
    return failed(made.error().what + " " + made.error().where, now);
  if (!take_over()) {
    if (const Status cleared = clear_mps_lock(program_, resource_); !cleared)
      return failed(cleared.error().what + " " + cleared.error().where, now);
    const auto child = start_mps_daemon(program_, resource_);
    if (!child) return failed(child.error().what, now);
    child_ = *child;
  }
  state_ = State::starting;
}

bool MpsDaemon::take_over() {
  if (running_mps_daemon(program_, resource_) == 0 && !answers()) return false;
  log_("info", resource_ + ": took over the MPS control daemon that runs");
  pid_ = running_mps_daemon(program_, resource_);
  started_ = Clock::now();
  state_ = State::starting;
  return true;
}

/// It says nothing when it does not take a limit, and exits with 0; asked, it then has none. Its answer is in whole
/// gigabytes, so that one that it has is set again: that counts for the servers to come only.
bool MpsDaemon::set_memory_limit(const MpsSettings::Limit& limit) const {
  const std::string index = std::to_string(limit.index);
  const auto set = tell_mps_daemon(program_, resource_, memory_command(limit), kAnswerLimit);
  const auto now = tell_mps_daemon(program_, resource_, "get_default_device_pinned_mem_limit " + index, kAnswerLimit);
  return set && now && !now->empty() && has_digit(now->substr(0, 1));
}

Status MpsDaemon::set_threads(unsigned percentage) const {
  SLIPWAY_CHECK(tell_mps_daemon(program_, resource_, threads_command(percentage), kAnswerLimit));
  SLIPWAY_TRY(now, tell_mps_daemon(program_, resource_, "get_default_active_thread_percentage", kAnswerLimit));
  if (std::abs(std::atof(now.c_str()) - percentage) < 1) return {};
  return Error{.code = ErrorCode::io,
               .what = "the MPS control daemon gives its clients " + now + " % of the threads, not " +
                       std::to_string(percentage)};
}

void MpsDaemon::configure(const MpsSettings& settings, Clock::time_point now) {
  if (told_ != settings) {
    for (const MpsSettings::Limit& limit : settings.limits)
      // Drivers of the 470 branch have no memory limit; the rest of MPS works there.
      if (limit.memory_mib > 0 && !set_memory_limit(limit))
        log_("warning", resource_ + ": clients get no memory limit on GPU " + std::to_string(limit.index) +
                            ": the MPS control daemon does not take it");
    if (const Status set = set_threads(settings.thread_percentage); !set) return failed(set.error().what, now);
  }
  if (state_ != State::ready) log_("info", resource_ + ": the MPS control daemon is ready");
  pid_ = running_mps_daemon(program_, resource_);
  next_ = now + (pid_ > 0 ? kAskEvery : kAskOftenEvery);
  told_ = settings;
  problem_.clear();
  back_off_ = {};
  silent_since_.reset();
  state_ = State::ready;
}

void MpsDaemon::failed(const std::string& why, Clock::time_point now) {
  if (problem_ != why) log_("warning", resource_ + ": " + why + ", starting it again");
  stop();
  problem_ = why;
  told_.reset();
  back_off_ = std::min(std::max(2 * back_off_, kFirstDaemonBackOff), kLongestDaemonBackOff);
  next_ = now + back_off_;
}

/// A server outlives its clients; it is they who would lose their work.
bool MpsDaemon::has_clients(const std::string& servers) const {
  std::istringstream lines(servers);
  for (std::string server; lines >> server;) {
    const auto clients = tell_mps_daemon(program_, resource_, "get_client_list " + server, kAnswerLimit);
    if (!clients || has_digit(*clients)) return true;
  }
  return false;
}

bool MpsDaemon::stop_when_idle() {
  if (state_ == State::stopped || gone()) {
    state_ = State::stopped;
    return true;
  }
  const auto servers = tell_mps_daemon(program_, resource_, "get_server_list", kAnswerLimit);
  if (!servers || has_clients(*servers)) return false;
  stop();
  return true;
}

void MpsDaemon::stop() {
  const pid_t holder = running_mps_daemon(program_, resource_);
  const pid_t pid = holder > 0 ? holder : child_;
  if (pid > 0) {
    // Without the lock no command finds it.
    if (holder > 0) (void)tell_mps_daemon(program_, resource_, "quit", kAnswerLimit);
    for (int i = 0;
         i < kDaemonEndSteps && holder > 0 && !gone() && (child_ > 0 || running_mps_daemon(program_, resource_) == pid);
         ++i)
      std::this_thread::sleep_for(kDaemonEndStep);
    // A session of its own, with its servers.
    if (child_ > 0 || running_mps_daemon(program_, resource_) == pid)
      ::kill(::getsid(pid) == pid ? -pid : pid, SIGKILL);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }
  ended();
  state_ = State::stopped;
  told_.reset();
  silent_since_.reset();
  next_ = {};
  problem_ = "the MPS control daemon was stopped";
}

}  // namespace slipway::deviceplugin
