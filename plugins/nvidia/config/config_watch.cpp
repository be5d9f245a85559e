// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/config_watch.hpp"

namespace slipway::nvidia::config {
namespace {

bool same(const Error& one, const Error& other) { return one.where == other.where && one.what == other.what; }

bool same(const Result<Settings>& one, const Result<Settings>& other) {
  if (one && other) return *one == *other;
  return !one && !other && same(one.error(), other.error());
}

}  // namespace

ConfigWatch::News ConfigWatch::look(Clock::time_point now) {
  if (now < next_) return News::none;
  next_ = now + every_;
  Result<Settings> seen = read_();
  const bool known = seen ? *seen == in_force_ && !problem_ : problem_ && same(seen.error(), *problem_);
  if (known) {
    unsettled_.reset();
    return News::none;
  }
  if (!unsettled_ || !same(seen, *unsettled_)) {
    unsettled_ = std::move(seen);
    next_ = now + kSettle;
    return News::none;
  }
  unsettled_.reset();
  if (!seen) {
    problem_ = seen.error();
    return News::wrong;
  }
  problem_.reset();
  if (*seen == in_force_) return News::none;
  in_force_ = std::move(*seen);
  return News::changed;
}

}  // namespace slipway::nvidia::config
