// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/pass_schedule.hpp - the time of the next pass: after the interval, or when a file has changed.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace slipway::gfd {

/// A changed file starts a pass at once and another one a little later. Each pass opens NVML, and users may change
/// files again and again, so the gap between such passes grows.
class PassSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param interval  empty: one pass only
  explicit PassSchedule(std::optional<std::chrono::milliseconds> interval) : interval_(interval) {}

  void files_changed(Clock::time_point now) {
    if (now - last_change_ > 4 * kLongest) gap_ = kShortest;
    last_change_ = now;
    due_ = std::min(due_, std::max(now, last_ + gap_));
    changed_ = true;
  }
  /// A pass begins.
  void begin(Clock::time_point now) {
    last_ = now;
    due_ = interval_ ? now + *interval_ : kNever;
    if (!changed_) return;
    changed_ = false;
    gap_ = std::min(2 * gap_, kLongest);
    due_ = std::min(due_, now + std::max(kOnceMore, gap_));
  }
  /// Schedules another pass soon: the input of the running one may be outdated.
  void look_again(Clock::time_point now) { due_ = std::min(due_, now + gap_); }
  bool is_due(Clock::time_point now) const { return now >= due_; }
  /// Empty: no further pass.
  std::optional<Clock::time_point> due() const { return due_ == kNever ? std::nullopt : std::optional(due_); }

 private:
  static constexpr std::chrono::seconds kShortest{1};
  static constexpr std::chrono::seconds kLongest{32};
  static constexpr std::chrono::seconds kOnceMore{3};  ///< the driver is not fully loaded when its node appears
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  std::optional<std::chrono::milliseconds> interval_;
  std::chrono::seconds gap_ = kShortest;  ///< between two passes that files start
  bool changed_ = false;                  ///< a file has changed since the last pass began
  Clock::time_point last_;                ///< when the last pass began
  Clock::time_point last_change_;
  Clock::time_point due_;
};

}  // namespace slipway::gfd
