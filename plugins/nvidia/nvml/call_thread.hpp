// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/call_thread.hpp - runs work on another thread and abandons it after a time limit; also limits a
// command's total waiting time.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>

namespace slipway::nvidia::nvml {

/// A call that is blocked in the driver cannot be cancelled: its thread is abandoned, and the next work gets a new one.
/// Used by one thread at a time.
class CallThread {
 public:
  /// Number of abandoned works that still hang, over all threads of one session.
  using Stuck = std::shared_ptr<std::atomic<unsigned>>;

  CallThread() = default;
  explicit CallThread(Stuck shared) : stuck_(std::move(shared)) {}
  ~CallThread();  ///< does not wait for abandoned work
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  using Clock = std::chrono::steady_clock;
  /// When the last finished part of a work was done.
  using LastPart = std::shared_ptr<std::atomic<Clock::time_point>>;

  /// Runs `work` and waits for it. All that it uses must live as long as it does: capture shared_ptrs.
  /// @param last_part  if set, the limit applies to each part of the work; null: to all of it
  /// @return false when it did not end in time, or kMaxStuck works hang already
  bool run(std::function<void()> work, std::chrono::milliseconds limit, const LastPart& last_part = nullptr);
  unsigned stuck() const { return stuck_->load(); }
  const Stuck& stuck_counter() const { return stuck_; }

  static constexpr unsigned kMaxStuck = 8;

 private:
  struct Desk;  // shared by caller and thread
  std::shared_ptr<Desk> desk_;
  Stuck stuck_ = std::make_shared<std::atomic<unsigned>>(0U);
};

/// During its lifetime new threads of this one block all signals: those are for the program's own threads, which handle
/// them.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// Limits how long one command waits for hanging calls, over all its workers.
///
/// Each component asks the driver in a worker of its own. If each waited its full limit for the same hanging GPU,
/// doctor would take minutes. So the first worker waits, and records the result in a page that all of them share.
/// Thread-safe.
class Patience {
 public:
  struct Page {
    std::atomic<std::uint64_t> hanging;  ///< a bit for each of the first 64 GPUs
    std::atomic<std::uint32_t> given_up;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  /// Uses the page of the command (core/engine/plugin_calls.hpp), or else one of this process.
  static Patience& of_command();
  /// `page` is borrowed.
  explicit Patience(Page& page) : page_(page) {}

  /// Returns the limit of the next call: `call_limit`, five seconds at most, until a first call was abandoned; less
  /// after each further one, down to 20 ms.
  std::chrono::milliseconds limit(std::chrono::milliseconds call_limit) const;
  void note_timeout();
  std::uint32_t given_up() const { return page_.given_up; }
  /// True when a worker of the command has found that this GPU does not answer.
  bool hangs(unsigned gpu_index) const;
  void set_hangs(unsigned gpu_index, bool hangs);

 private:
  Page& page_;
};

/// The environment variable that names the command's page.
inline constexpr const char* kRunPageVariable = "SLIPWAY_RUN_PAGE";

}  // namespace slipway::nvidia::nvml
