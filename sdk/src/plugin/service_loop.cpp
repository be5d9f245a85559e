// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <poll.h>
#include <sys/eventfd.h>

#include <slipway/service_loop.hpp>

namespace slipway {
namespace {

using Clock = ServiceLoop::Clock;
constexpr std::chrono::seconds kQuietRound{1};
/// The pause between two passes for descriptors: any user can touch /dev/null at any rate.
constexpr std::chrono::milliseconds kBetweenEvents{20};

/// Converts to poll()'s argument: rounded up, so that it does not wake just before the time; -1: no end.
int milliseconds_until(std::optional<Clock::time_point> until) {
  if (!until) return -1;
  constexpr std::chrono::milliseconds::rep kLongest = 3'600'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, kLongest));
}

void take_earlier(std::optional<Clock::time_point>& until, std::optional<Clock::time_point> other) {
  if (other && (!until || *other < *until)) until = other;
}

}  // namespace

ServiceLoop::ServiceLoop() : interrupted_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Status ServiceLoop::run(const std::stop_token& stop, ServiceIo& io, const Work& work) {
  if (!interrupted_) return Error{.code = ErrorCode::io, .what = "cannot make an event descriptor for the service"};
  const std::stop_callback when_stopped(stop, [this] { interrupt(); });
  std::unique_lock lock(mutex_);
  ended_ = false;
  alive_said_ = Clock::now();
  Status result;
  while (!stop.stop_requested()) {
    wait_while_quiesced(lock, stop, io, work);
    if (stop.stop_requested()) break;
    woken_ = false;
    lock.unlock();
    result = work.pass();
    lock.lock();
    if (!result || wait(lock, stop, io, work) == Next::end) break;
  }
  if (!quiesced_ && work.release) work.release();
  ended_ = true;
  changed_.notify_all();
  return result;
}

/// Releases the driver and waits until the service is resumed.
void ServiceLoop::wait_while_quiesced(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io,
                                      const Work& work) {
  if (!quiesce_wanted_) return;
  if (work.release) work.release();
  quiesced_ = true;
  changed_.notify_all();
  report_alive(io);
  while (!stop.stop_requested() && quiesce_wanted_) {
    std::optional<Clock::time_point> until;
    if (work.while_quiet) {
      lock.unlock();
      work.while_quiet();
      lock.lock();
      until = Clock::now() + kQuietRound;
    }
    while (!stop.stop_requested() && quiesce_wanted_ && (!until || Clock::now() < *until)) sleep(lock, io, until, {});
  }
  quiesced_ = quiesce_wanted_;
}

ServiceLoop::Next ServiceLoop::wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io,
                                    const Work& work) {
  lock.unlock();
  std::optional<Clock::time_point> due;
  if (work.next)
    due = work.next();
  else if (work.interval)
    due = Clock::now() + *work.interval;
  const std::vector<int> descriptors = work.descriptors ? work.descriptors() : std::vector<int>();
  lock.lock();
  bool readable = false;
  while (!stop.stop_requested() && !woken_ && !quiesce_wanted_ && !readable && (!due || Clock::now() < *due))
    readable = sleep(lock, io, due, descriptors);
  const Clock::time_point soonest = last_event_ + kBetweenEvents;
  while (readable && !stop.stop_requested() && !woken_ && !quiesce_wanted_ && Clock::now() < soonest)
    sleep(lock, io, soonest, {});
  if (readable) last_event_ = Clock::now();
  // A change may also concern the permissions of the service's unit, which are checked when the service reports that it
  // is alive.
  if (woken_ || readable) report_alive(io);
  return stop.stop_requested() ? Next::end : Next::pass;
}

/// Sleeps until the time, interrupt(), or a readable descriptor, for which it returns true.
bool ServiceLoop::sleep(std::unique_lock<std::mutex>& lock, ServiceIo& io, std::optional<Clock::time_point> until,
                        const std::vector<int>& descriptors) {
  std::vector<pollfd> watched{{interrupted_.get(), POLLIN, 0}};
  for (const int fd : descriptors) watched.push_back({fd, POLLIN, 0});
  const auto every = io.alive_every();
  if (every) take_earlier(until, alive_said_ + *every);
  lock.unlock();
  const int ready = ::poll(watched.data(), watched.size(), milliseconds_until(until));
  lock.lock();
  eventfd_t ignored = 0;
  if (ready > 0 && watched.front().revents != 0) (void)::eventfd_read(interrupted_.get(), &ignored);
  if (every && Clock::now() >= alive_said_ + *every) report_alive(io);
  return ready > 0 &&
         std::any_of(watched.begin() + 1, watched.end(), [](const pollfd& each) { return each.revents != 0; });
}

void ServiceLoop::report_alive(ServiceIo& io) {
  alive_said_ = Clock::now();
  io.alive();
}

void ServiceLoop::interrupt() const { (void)::eventfd_write(interrupted_.get(), 1); }

void ServiceLoop::wake() {
  woken_ = true;
  interrupt();
}

Status ServiceLoop::quiesce() {
  std::unique_lock lock(mutex_);
  quiesce_wanted_ = true;
  interrupt();
  changed_.wait(lock, [this] { return quiesced_ || ended_; });
  if (quiesced_) return {};
  return Error{.code = ErrorCode::cancelled, .what = "the service has ended"};
}

Status ServiceLoop::resume() {
  const std::scoped_lock lock(mutex_);
  quiesce_wanted_ = false;
  interrupt();
  return {};
}

}  // namespace slipway
