// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/schedule.hpp - the intervals, out of several, that are over.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <vector>

namespace slipway::dcgm {

/// Intervals that are multiples of one another end together, so that their calls are made together: all intervals start
/// at the same time, and the duration of a sample does not shift them.
class Schedule {
 public:
  using Clock = std::chrono::steady_clock;
  using Intervals = std::set<std::chrono::milliseconds>;

  /// Restarts with these intervals, all due at once; if they are unchanged, they continue.
  void set(const std::vector<std::chrono::milliseconds>& intervals);
  /// Returns the intervals that are due and restarts them. Missed ones are skipped.
  Intervals take(Clock::time_point now);
  /// Returns when the next one is due.
  Clock::time_point due() const;
  /// Makes all intervals due at once.
  void start_over() { begun_ = false; }

 private:
  std::map<std::chrono::milliseconds, Clock::time_point> next_;
  bool begun_ = false;
};

}  // namespace slipway::dcgm
