// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service_loop.hpp - the loop of a service that does its work in passes, and can be woken and quiesced.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include <slipway/fd.hpp>
#include <slipway/service.hpp>

namespace slipway {

/// One loop, in the thread of Service::run(). The other calls may come from any thread. While nothing happens and no
/// pass is due, the loop sleeps without waking up.
///
///   Status run(…) override {
///     return loop_.run(stop, io, {.interval = 60s, .pass = [&] { … io.ready(); … }, .release = [&] { nvml.release();
///     }});
///   }
///   Status quiesce() override { return loop_.quiesce(); }
///   Status resume() override { return loop_.resume(); }
class ServiceLoop {
 public:
  using Clock = std::chrono::steady_clock;

  struct Work {
    std::optional<std::chrono::milliseconds> interval;  ///< from the end of a pass to the next; empty: only when woken
    std::function<Status()> pass;                       ///< an error ends the loop
    std::function<void()> release;                      ///< called before the loop pauses, and at its end
    std::function<void()> while_quiet;  ///< called once a second during the pause, without the driver; may be empty
    /// Called after each pass, instead of using `interval`: returns when the next one is due; empty: only when woken.
    std::function<std::optional<Clock::time_point>()> next;
    /// Called after each pass: returns descriptors, borrowed until the next pass, which starts as soon as one of them
    /// is readable. The pass must read the available data, else the next one starts at once.
    std::function<std::vector<int>()> descriptors;
  };

  ServiceLoop();

  /// Starts the first pass at once, and then one when it is due, after wake() and resume(), and when a descriptor is
  /// readable. Calls alive() as often as ServiceIo::alive_every() requires, and when a pass starts for another reason
  /// than time. Returns when stop is requested, or with the error of a pass.
  Status run(const std::stop_token& stop, ServiceIo& io, const Work& work);
  /// Starts a pass soon, also during another one. Does not block: any thread may call it, holding any lock.
  void wake();
  /// Returns after release(), when the loop has paused. Errors: `cancelled` the loop has ended.
  Status quiesce();
  Status resume();

 private:
  enum class Next { pass, end };
  Next wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io, const Work& work);
  void wait_while_quiesced(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io,
                           const Work& work);
  bool sleep(std::unique_lock<std::mutex>& lock, ServiceIo& io, std::optional<Clock::time_point> until,
             const std::vector<int>& descriptors);
  void report_alive(ServiceIo& io);
  void interrupt() const;

  Fd interrupted_;  ///< an eventfd that ends the sleep
  std::mutex mutex_;
  std::condition_variable changed_;  ///< for quiesce()
  Clock::time_point alive_said_;
  Clock::time_point last_event_;  ///< the start of the last pass for an event
  bool ended_ = false;
  std::atomic<bool> woken_ = false;
  bool quiesce_wanted_ = false;
  bool quiesced_ = false;
};

}  // namespace slipway
