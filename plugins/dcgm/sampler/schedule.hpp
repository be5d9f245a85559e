// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/sampler/schedule.hpp - which of several intervals are over.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <vector>

namespace slipway::dcgm {

/// Intervals that are multiples of one another end together, so that their questions are asked together: each is
/// counted from the same start, and none moves by the time that a look takes.
class Schedule {
 public:
  using Clock = std::chrono::steady_clock;
  using Intervals = std::set<std::chrono::milliseconds>;

  /// Begins anew with these, all of which are over at once; the same ones go on.
  void set(const std::vector<std::chrono::milliseconds>& intervals);
  /// Those that are over; each begins again. What was missed is not made up for.
  Intervals take(Clock::time_point now);
  /// When the next one is over.
  Clock::time_point due() const;
  /// All are over.
  void start_over() { begun_ = false; }

 private:
  std::map<std::chrono::milliseconds, Clock::time_point> next_;
  bool begun_ = false;
};

}  // namespace slipway::dcgm
