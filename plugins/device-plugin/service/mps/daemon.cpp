// SPDX-License-Identifier: Apache-2.0
#include "device-plugin/service/mps/daemon.hpp"

#include <algorithm>
#include <csignal>
#include <thread>

#include <sys/wait.h>

namespace slipway::deviceplugin {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswerLimit{1'000};
constexpr milliseconds kStartLimit{30'000};
constexpr milliseconds kStartStep{200};
constexpr milliseconds kAskEvery{5'000};
constexpr milliseconds kFirstBackOff{1'000};
constexpr milliseconds kLongestBackOff{60'000};
constexpr int kEndSteps = 50;
constexpr milliseconds kEndStep{100};

}  // namespace

MpsDaemon::MpsDaemon(MpsProgram program, std::string resource, Log log)
    : program_(std::move(program)), resource_(std::move(resource)), log_(std::move(log)) {}

MpsDaemon::~MpsDaemon() { (void)stop_when_idle(); }

void MpsDaemon::tick(const MpsWish& wish, Clock::time_point now) {
  if (child_ended()) failed("the MPS control daemon ended", now);
  if (now < next_) return;
  switch (state_) {
    case State::stopped:
      start(now);
      break;
    case State::starting:
      next_ = now + kStartStep;
      if (answers())
        configure(wish, now);
      else if (now - started_ > kStartLimit)
        failed("the MPS control daemon does not answer", now);
      break;
    case State::ready:
      next_ = now + kAskEvery;
      if (!answers())
        failed("the MPS control daemon does not answer any more", now);
      else if (told_ != wish)
        configure(wish, now);
      break;
  }
}

bool MpsDaemon::answers() const {
  return tell_mps_daemon(program_, resource_, "get_default_active_thread_percentage", kAnswerLimit).ok();
}

void MpsDaemon::start(Clock::time_point now) {
  started_ = now;
  next_ = now + kStartStep;
  if (const Status made = make_mps_folders(program_, resource_); !made)
    return failed(made.error().what + " " + made.error().where, now);
  if (answers()) {
    log_("info", resource_ + ": took over the MPS control daemon that runs");
  } else {
    const auto pid = start_mps_daemon(program_, resource_);
    if (!pid) return failed(pid.error().what, now);
    pid_ = *pid;
  }
  state_ = State::starting;
}

void MpsDaemon::configure(const MpsWish& wish, Clock::time_point now) {
  for (const std::string& command : commands_of(wish)) {
    const auto told = tell_mps_daemon(program_, resource_, command, kAnswerLimit);
    // Drivers of the 470 branch have no memory limit; the rest of MPS works there.
    if (!told && command.starts_with("set_default_device_pinned_mem_limit"))
      log_("warning", resource_ + ": clients get no memory limit: " + told.error().what);
    else if (!told)
      return failed(told.error().what + " (" + command + ")", now);
  }
  if (state_ != State::ready) log_("info", resource_ + ": the MPS control daemon is ready");
  told_ = wish;
  problem_.clear();
  back_off_ = {};
  state_ = State::ready;
}

void MpsDaemon::failed(const std::string& why, Clock::time_point now) {
  if (problem_ != why) log_("warning", resource_ + ": " + why + ", starting it again");
  if (pid_ > 0) stop();
  problem_ = why;
  state_ = State::stopped;
  told_.reset();
  back_off_ = std::min(std::max(2 * back_off_, kFirstBackOff), kLongestBackOff);
  next_ = now + back_off_;
}

bool MpsDaemon::child_ended() {
  if (pid_ <= 0 || ::waitpid(pid_, nullptr, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

bool MpsDaemon::stop_when_idle() {
  if (state_ == State::stopped) return true;
  const auto servers = tell_mps_daemon(program_, resource_, "get_server_list", kAnswerLimit);
  const bool used = servers && servers->find_first_of("0123456789") != std::string::npos;
  if (used) return false;
  stop();
  return true;
}

void MpsDaemon::stop() {
  if (state_ == State::stopped && pid_ <= 0) return;
  (void)tell_mps_daemon(program_, resource_, "quit", kAnswerLimit);
  for (int i = 0; i < kEndSteps && pid_ > 0 && !child_ended(); ++i) std::this_thread::sleep_for(kEndStep);
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);  // a session of its own, with its servers
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  state_ = State::stopped;
  told_.reset();
  next_ = {};
  problem_ = "the MPS control daemon was stopped";
}

}  // namespace slipway::deviceplugin
