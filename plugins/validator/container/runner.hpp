// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/runner.hpp - runs programs, all of them within one time limit: the limits of single
// programs would add up to more than a verify has.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::validator {

using Words = std::vector<std::string>;

/// The span starts at the construction. Host::run() gives a program 5 s to end when its time is over, so the last one
/// may end that much later.
class Runner {
 public:
  using Span = std::chrono::milliseconds;

  /// The host is borrowed.
  Runner(const Host& host, Span span) : host_(host), end_(Clock::now() + span) {}
  /// Returns a runner with that span from now, limited by this one's.
  Runner within(Span span) const { return {host_, std::min(span, left())}; }

  const Host& host() const { return host_; }
  /// Never negative.
  Span left() const { return std::max(Span(0), std::chrono::duration_cast<Span>(end_ - Clock::now())); }
  /// Calls Host::run() within the remaining time. Errors: those of Host::run(); `timed_out` when no time is left.
  Result<ProcessOutput> run(const Words& words, Span limit) const {
    const Span time = std::min(limit, left());
    if (time.count() > 0) return host_.run(words, time);  // a limit of zero means no limit
    return Error{ErrorCode::timed_out, "there was no time left to run " + words.front(), words.front(), {}, {}};
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Host& host_;
  Clock::time_point end_;
};

}  // namespace slipway::validator
