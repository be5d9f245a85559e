// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service_loop.hpp - the loop of a service that does its work in passes, and can be woken and quiesced.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include <slipway/service.hpp>

namespace slipway {

/// One loop, in the thread of Service::run(). The other calls may come from any thread.
///
///   Status run(…) override {
///     return loop_.run(stop, io, {.interval = 60s, .pass = [&] { … io.ready(); … }, .release = [&] { nvml.release();
///     }});
///   }
///   Status quiesce() override { return loop_.quiesce(); }
///   Status resume() override { return loop_.resume(); }
class ServiceLoop {
 public:
  struct Work {
    std::optional<std::chrono::milliseconds> interval;  ///< from the end of a pass to the next; empty: only when woken
    std::function<Status()> pass;                       ///< an error ends the loop
    std::function<void()> release;                      ///< before the loop stands still, and at its end
    std::function<void()> while_quiet;                  ///< then once a second; may not use the driver; empty: nothing
  };

  /// The first pass comes at once, then one after each interval, wake() and resume(). Says alive() while it waits.
  /// Returns when stop is requested, or with the error of a pass.
  Status run(const std::stop_token& stop, ServiceIo& io, const Work& work);
  /// A pass soon, also when one is under way.
  void wake();
  /// Returns after release(), when the loop stands still. Errors: `cancelled` the loop has ended.
  Status quiesce();
  Status resume();

 private:
  enum class Next { pass, end };
  Next wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io, const Work& work);
  void stand_still(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, ServiceIo& io, const Work& work);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool ended_ = false;
  bool woken_ = false;
  bool quiet_wanted_ = false;
  bool quiet_ = false;
};

}  // namespace slipway
