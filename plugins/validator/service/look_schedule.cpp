// SPDX-License-Identifier: Apache-2.0
#include "validator/service/look_schedule.hpp"

namespace slipway::validator {

void LookSchedule::driver_changed(Clock::time_point now) {
  again_ = true;
  pause_ = kShortest;
  due_ = std::min(due_, std::max(now, last_ + kShortest));
}

void LookSchedule::driver_logged(Clock::time_point now) {
  if (!asked_once_) return;  // the first check is due already
  wrote_ = true;
  due_ = std::min(due_, std::max(now, last_ + patience_));
}

void LookSchedule::looked(Clock::time_point now, bool works, bool news) {
  const bool without_result = wrote_ && !again_ && !news;
  patience_ = without_result ? std::min<std::chrono::seconds>(2 * patience_, kAtRest) : kShortest;
  if (news) pause_ = kShortest;
  due_ = now + (works ? kAtRest : pause_);
  if (!works) pause_ = std::min(2 * pause_, kLongest);
  if (again_) due_ = std::min(due_, now + kShortest);
  again_ = wrote_ = false;
  last_ = now;
  asked_once_ = true;
}

void RoundSchedule::files_changed(Clock::time_point now) {
  at(now);
  once_more_ = now + kOnceMore;
}

void RoundSchedule::begin(Clock::time_point now, bool sees_files) {
  if (once_more_ && now >= *once_more_) once_more_.reset();
  last_ = now;
  next_ = now + (sees_files ? kSlow : kSlowAlone);
}

}  // namespace slipway::validator
