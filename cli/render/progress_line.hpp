// SPDX-License-Identifier: Apache-2.0
// cli/render/progress_line.hpp - the progress of one step as a line for people: how much, how fast, how much longer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/ui.hpp"

namespace slipway::core {

/// What was reported of one step, and when. It asks no clock.
class ProgressMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProgressMeter(std::string component) : component_(std::move(component)) {}

  void report(Progress progress, Time now);

  /// "driver: unpack x [####....] 120.0 of 345.0 MiB  98.2 MiB/s  3 s left", as of the last report.
  ///
  /// The rate is that of the last few seconds; it and what follows from it are left out in the first half second. So
  /// are parts for which there is no room, and the middle of a long label.
  ///
  /// @param columns  what it is never wider than
  std::string line(std::size_t columns) const;

  /// The same for a log, without the component and a bar: "unpack x: 120.0 of 345.0 MiB, 98.2 MiB/s, 3 s left".
  std::string standing() const;

  /// What is left to say when it is done, without the component: "unpacked x: 345.0 MiB in 3.5 s, 98.2 MiB/s".
  std::string summary() const;

  const Progress& last() const { return last_; }
  Time last_time() const { return last_time_; }

 private:
  struct Sample {
    Time time;
    std::uint64_t done;
  };
  /// How much, how fast, how much longer.
  std::vector<std::string> numbers() const;
  /// Per second, since that sample; nothing in the first half second.
  std::optional<double> rate_since(const Sample& sample) const;

  std::string component_;
  Progress last_;
  Time last_time_;
  std::optional<Sample> first_;
  std::deque<Sample> recent_;  ///< of the last few seconds
};

/// What a label says before ": ", after which comes the part that is being worked on now: too much for a log.
std::string step_of(const std::string& label);

/// The text with its middle left out ("...") where it is wider.
std::string shortened(const std::string& text, std::size_t columns);

}  // namespace slipway::core
