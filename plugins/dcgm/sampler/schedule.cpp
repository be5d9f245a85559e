// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/schedule.hpp"

#include <algorithm>

namespace slipway::dcgm {

void Schedule::set(const std::vector<std::chrono::milliseconds>& intervals) {
  if (std::ranges::equal(intervals, next_, {}, {}, [](const auto& each) { return each.first; })) return;
  next_.clear();
  for (const auto interval : intervals) next_[interval] = {};
  begun_ = false;
}

Schedule::Intervals Schedule::take(Clock::time_point now) {
  Intervals over;
  for (auto& [interval, next] : next_) {
    if (begun_ && now < next) continue;
    over.insert(interval);
    next = begun_ ? next + interval * ((now - next) / interval + 1) : now + interval;
  }
  begun_ = true;
  return over;
}

Schedule::Clock::time_point Schedule::due() const {
  Clock::time_point due = begun_ ? Clock::time_point::max() : Clock::time_point{};
  for (const auto& [interval, next] : next_) due = std::min(due, next);
  return due;
}

}  // namespace slipway::dcgm
