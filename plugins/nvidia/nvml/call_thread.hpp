// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/call_thread.hpp - does a piece of work on another thread and gives it up when it takes too long.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace slipway::nvidia::nvml {

/// A blocked call into the driver cannot be cancelled: its thread is left behind, and the next work gets a new one.
/// Used by one thread at a time.
class CallThread {
 public:
  CallThread() = default;
  ~CallThread();  ///< waits for no abandoned work
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  /// Runs `work` and waits for it. What it touches must live as long as it does: hand over shared_ptrs.
  /// @return false when it did not end in time, or when kMaxStuck works hang already
  bool run(std::function<void()> work, std::chrono::milliseconds limit);
  /// How many abandoned works have not come back yet.
  unsigned stuck() const { return stuck_->load(); }

  static constexpr unsigned kMaxStuck = 8;

 private:
  struct Desk;  // what caller and thread share
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<std::atomic<unsigned>> stuck_ = std::make_shared<std::atomic<unsigned>>(0U);
};

}  // namespace slipway::nvidia::nvml
