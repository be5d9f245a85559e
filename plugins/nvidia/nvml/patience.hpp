// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/patience.hpp - how long one command waits for calls that do not come back, all its workers
// together.
//
// Each component asks the driver in a worker of its own. If each waited its full limit for the same hanging GPU, doctor
// would take minutes. So the first worker waits, and writes what it learned to a page that all of them share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace slipway::nvidia::nvml {

/// Thread-safe.
class Patience {
 public:
  struct Page {
    std::atomic<std::uint64_t> hanging;  ///< a bit for each of the first 64 GPUs
    std::atomic<std::uint32_t> given_up;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  /// By the page of the command (core/engine/run_page.hpp); without one, by one of this process.
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
