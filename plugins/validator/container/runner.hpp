// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/runner.hpp - runs programs, all of them within one span of time: what the limits of
// single programs add up to is more than a verify has.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::validator {

using Words = std::vector<std::string>;

/// The span begins when this is made. Host::run() gives a program 5 s to end when its time is over, so that the last
/// one may end that much later.
class Runner {
 public:
  using Span = std::chrono::milliseconds;

  /// The host is borrowed.
  Runner(const Host& host, Span span) : host_(host), end_(Clock::now() + span) {}
  /// So long from now, and no longer than this one.
  Runner within(Span span) const { return {host_, std::min(span, left())}; }

  const Host& host() const { return host_; }
  /// Never negative.
  Span left() const { return std::max(Span(0), std::chrono::duration_cast<Span>(end_ - Clock::now())); }
  /// Host::run() for no longer than there is time. Errors: as there; `timed_out` when there is none left.
  Result<ProcessOutput> run(const Words& words, Span limit) const {
    const Span time = std::min(limit, left());
    if (time.count() > 0) return host_.run(words, time);  // a limit of zero would be none
    return Error{ErrorCode::timed_out, "there was no time left to run " + words.front(), words.front(), {}, {}};
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Host& host_;
  Clock::time_point end_;
};

}  // namespace slipway::validator
