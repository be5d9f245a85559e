// SPDX-License-Identifier: Apache-2.0
#include "gfd/pass_schedule.hpp"

namespace slipway::gfd {

void PassSchedule::files_changed(Clock::time_point now) {
  constexpr int kQuietGaps = 4;
  if (now - last_change_ > kQuietGaps * gap_) gap_ = kShortest;
  last_change_ = now;
  due_ = std::min(due_, std::max(now, last_ + gap_));
  changed_ = true;
}

void PassSchedule::begin(Clock::time_point now) {
  last_ = now;
  due_ = interval_ ? now + *interval_ : kNever;
  if (!changed_) return;
  changed_ = false;
  gap_ = std::min(2 * gap_, kLongest);
  due_ = std::min(due_, now + std::max(kOnceMore, gap_));
}

}  // namespace slipway::gfd
