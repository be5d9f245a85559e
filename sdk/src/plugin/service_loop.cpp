// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/service_loop.hpp>

namespace slipway {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kAliveEvery{1};

}  // namespace

Status ServiceLoop::run(const std::stop_token& stop, ServiceIo& io, const Work& work) {
  std::unique_lock lock(mutex_);
  ended_ = false;
  Status result;
  while (!stop.stop_requested()) {
    stand_still(lock, stop, io, work);
    if (stop.stop_requested()) break;
    woken_ = false;
    lock.unlock();
    result = work.pass();
    lock.lock();
    if (!result || wait(lock, stop, io, work) == Next::end) break;
  }
  if (!quiet_ && work.release) work.release();
  ended_ = true;
  changed_.notify_all();
  return result;
}

/// Releases the driver and waits for as long as quiet is wanted.
void ServiceLoop::stand_still(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io,
                              const Work& work) {
  if (!quiet_wanted_) return;
  if (work.release) work.release();
  quiet_ = true;
  changed_.notify_all();
  while (!stop.stop_requested() && quiet_wanted_) {
    io.alive();
    if (work.while_quiet) {
      lock.unlock();
      work.while_quiet();
      lock.lock();
    }
    changed_.wait_for(lock, stop, kAliveEvery, [this] { return !quiet_wanted_; });
  }
  quiet_ = quiet_wanted_;
}

ServiceLoop::Next ServiceLoop::wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io,
                                    const Work& work) {
  const Clock::time_point begin = Clock::now();
  const auto due = [&] { return woken_ || quiet_wanted_; };
  while (!stop.stop_requested() && !due()) {
    io.alive();
    Clock::time_point until = Clock::now() + kAliveEvery;
    if (work.interval) until = std::min(until, begin + *work.interval);
    changed_.wait_until(lock, stop, until, due);
    if (work.interval && Clock::now() >= begin + *work.interval) break;
  }
  return stop.stop_requested() ? Next::end : Next::pass;
}

void ServiceLoop::wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

Status ServiceLoop::quiesce() {
  std::unique_lock lock(mutex_);
  quiet_wanted_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return quiet_ || ended_; });
  if (quiet_) return {};
  return Error{.code = ErrorCode::cancelled, .what = "the service has ended"};
}

Status ServiceLoop::resume() {
  const std::scoped_lock lock(mutex_);
  quiet_wanted_ = false;
  changed_.notify_all();
  return {};
}

}  // namespace slipway
