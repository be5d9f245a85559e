// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/look_schedule.hpp - the time of the next round, and whether NVML is called in it: after an
// event, and otherwise rarely.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace slipway::validator {

/// A check starts a process with NVML, which takes some 15 ms of a processor. So a working driver is checked once a
/// minute, a failing one after 1, 2, 4, 8 and then every 10 s, and each at once when the kernel's log or the file
/// system reports an event.
class LookSchedule {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kAtRest{60};
  static constexpr std::chrono::seconds kShortest{1};  ///< between two looks
  static constexpr std::chrono::seconds kLongest{10};  ///< interval of looks at a failing driver

  /// The driver or a GPU has changed. An immediate look may be too early, so another one follows.
  void driver_changed(Clock::time_point now);
  /// The driver wrote a line without information about its state. If such lines keep coming and the looks find nothing
  /// new, the looks become less frequent.
  void driver_logged(Clock::time_point now);
  bool is_due(Clock::time_point now) const { return now >= due_; }
  /// Returns when the next check is due; the first is due at once.
  Clock::time_point due() const { return due_; }
  /// @param works  NVML answered for every GPU  @param news  its answer differs from the previous one
  void looked(Clock::time_point now, bool works, bool news);

 private:
  Clock::time_point last_;
  Clock::time_point due_;
  bool asked_once_ = false;
  bool again_ = false;  ///< after the due look
  bool wrote_ = false;  ///< the due look is for a line of the driver
  std::chrono::seconds patience_ = kShortest;
  std::chrono::seconds pause_ = kShortest;
};

/// Schedules the cheap checks: at once after an event, and every ten seconds for changes without events: /proc, mounts,
/// sockets whose program has exited.
class RoundSchedule {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShortest{250};  ///< shortest time between two rounds
  static constexpr std::chrono::seconds kSlow{10};
  static constexpr std::chrono::seconds kSlowAlone{1};  ///< interval if changes of files do not wake the service
  static constexpr std::chrono::seconds kOnceMore{2};   ///< after a change: a program that writes a file in place may
                                                        ///< not be done

  /// A file has changed: a round now, and another one later.
  void files_changed(Clock::time_point now);
  /// Requests a round at that time or before.
  void at(Clock::time_point time) { next_ = std::min(next_, std::max(time, last_ + kShortest)); }
  bool is_due(Clock::time_point now) const { return now >= due(); }
  Clock::time_point due() const { return once_more_ ? std::min(next_, *once_more_) : next_; }
  /// Starts a round. @param sees_files  changes of files wake the service
  void begin(Clock::time_point now, bool sees_files);

 private:
  Clock::time_point last_;
  Clock::time_point next_;
  std::optional<Clock::time_point> once_more_;
};

}  // namespace slipway::validator
