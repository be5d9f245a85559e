// SPDX-License-Identifier: Apache-2.0
// plugins/validator/service/look_schedule.hpp - when the next round comes, and when NVML is asked in it: when something
// happened, and else seldom.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace slipway::validator {

/// A look starts a process and NVML in it: some 15 ms of a processor. So a driver that works is looked at once a
/// minute, one that does not after 1, 2, 4, 8 and then each 10 s, and each at once when the kernel's log or the file
/// system says that something happened.
class LookSchedule {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kAtRest{60};
  static constexpr std::chrono::seconds kShortest{1};  ///< between two looks
  static constexpr std::chrono::seconds kLongest{10};  ///< between two looks at a driver that does not work

  /// Something has happened to the driver or a GPU. The look at once may be too early, so that another one follows.
  void driver_changed(Clock::time_point now);
  /// The driver wrote something that says nothing of its state. Where such lines come all the time and the looks find
  /// nothing new, they come less and less often.
  void driver_wrote(Clock::time_point now);
  bool is_due(Clock::time_point now) const { return now >= due_; }
  /// When the next look is due; the first is at once.
  Clock::time_point due() const { return due_; }
  /// @param works  NVML answered for every GPU  @param news  its answer differs from the one before
  void looked(Clock::time_point now, bool works, bool news);

 private:
  Clock::time_point last_;
  Clock::time_point due_;
  bool asked_once_ = false;
  bool again_ = false;  ///< after the look that is due
  bool wrote_ = false;  ///< the look that is due is for what the driver wrote
  std::chrono::seconds patience_ = kShortest;
  std::chrono::seconds pause_ = kShortest;
};

/// When the cheap checks are done: at once when something happened, and each ten seconds for what nobody tells: /proc,
/// mounts, sockets whose program is gone.
class RoundSchedule {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShortest{250};  ///< between two rounds, however much happens
  static constexpr std::chrono::seconds kSlow{10};
  static constexpr std::chrono::seconds kSlowAlone{1};  ///< where changes of files do not wake the service
  static constexpr std::chrono::seconds kOnceMore{2};   ///< after a change: who writes a file in place is not done yet

  /// A file has changed: a round now, and one more afterwards.
  void files_changed(Clock::time_point now);
  /// A round at that time, or before it.
  void at(Clock::time_point time) { next_ = std::min(next_, std::max(time, last_ + kShortest)); }
  bool is_due(Clock::time_point now) const { return now >= due(); }
  Clock::time_point due() const { return once_more_ ? std::min(next_, *once_more_) : next_; }
  /// A round begins. @param sees_files  changes of files wake the service
  void begin(Clock::time_point now, bool sees_files);

 private:
  Clock::time_point last_;
  Clock::time_point next_;
  std::optional<Clock::time_point> once_more_;
};

}  // namespace slipway::validator
