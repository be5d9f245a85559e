// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/call_thread.hpp - does a piece of work on another thread and gives it up when it takes too
// long, and how long a command waits in all.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>

namespace slipway::nvidia::nvml {

/// A blocked call into the driver cannot be cancelled: its thread is left behind, and the next work gets a new one.
/// Used by one thread at a time.
class CallThread {
 public:
  /// How many abandoned works have not come back; threads of one session count together.
  using Stuck = std::shared_ptr<std::atomic<unsigned>>;

  CallThread() = default;
  explicit CallThread(Stuck shared) : stuck_(std::move(shared)) {}
  ~CallThread();  ///< waits for no abandoned work
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  using Clock = std::chrono::steady_clock;
  /// When the last part of a work that has several was done.
  using LastPart = std::shared_ptr<std::atomic<Clock::time_point>>;

  /// Runs `work` and waits for it. What it touches must live as long as it does: hand over shared_ptrs.
  /// @param last_part  the limit is that of each part of the work; null: of all of it
  /// @return false when it did not end in time, or when kMaxStuck works hang already
  bool run(std::function<void()> work, std::chrono::milliseconds limit, const LastPart& last_part = nullptr);
  unsigned stuck() const { return stuck_->load(); }
  const Stuck& stuck_counter() const { return stuck_; }

  static constexpr unsigned kMaxStuck = 8;

 private:
  struct Desk;  // what caller and thread share
  std::shared_ptr<Desk> desk_;
  Stuck stuck_ = std::make_shared<std::atomic<unsigned>>(0U);
};

/// While it lives, the threads that this one starts take no signals: those are for the threads of the program, which
/// know what to do about them.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// How long one command waits for calls that do not come back, all its workers together.
///
/// Each component asks the driver in a worker of its own. If each waited its full limit for the same hanging GPU,
/// doctor would take minutes. So the first worker waits, and writes what it learned to a page that all of them share.
/// Thread-safe.
class Patience {
 public:
  struct Page {
    std::atomic<std::uint64_t> hanging;  ///< a bit for each of the first 64 GPUs
    std::atomic<std::uint32_t> given_up;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  /// By the page of the command (core/engine/plugin_calls.hpp); without one, by one of this process.
  static Patience& of_command();
  /// `page` is borrowed.
  explicit Patience(Page& page) : page_(page) {}

  /// How long the next call may take: `call_limit`, five seconds at most, until a first call was given up; less after
  /// each further one, down to 20 ms.
  std::chrono::milliseconds limit(std::chrono::milliseconds call_limit) const;
  void gave_up();
  std::uint32_t given_up() const { return page_.given_up; }
  /// Whether a worker of the command has found that this GPU does not answer.
  bool hangs(unsigned gpu_index) const;
  void set_hangs(unsigned gpu_index, bool hangs);

 private:
  Page& page_;
};

/// The environment variable that names the command's page.
inline constexpr const char* kRunPageVariable = "SLIPWAY_RUN_PAGE";

}  // namespace slipway::nvidia::nvml
