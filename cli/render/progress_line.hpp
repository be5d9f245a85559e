// SPDX-License-Identifier: Apache-2.0
// cli/render/progress_line.hpp - the progress of one step as a line for users: amount, rate and remaining time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "app/engine.hpp"

namespace slipway::cli {

/// The reports of one step with their times. It reads no clock.
class ProgressMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ProgressMeter(std::string component) : component_(std::move(component)) {}

  void report(core::Progress progress, Time now);

  /// Returns "driver: unpack x [####....] 120.0 of 345.0 MiB  98.2 MiB/s  3 s left", as of the last report.
  ///
  /// The rate is that of the last few seconds; the rate and the remaining time are left out in the first half second.
  /// Parts for which there is no room are left out too, and so is the middle of a long label.
  ///
  /// @param columns  the maximum width
  std::string line(std::size_t columns) const;

  /// The same for a log, without the component and the bar: "unpack x: 120.0 of 345.0 MiB, 98.2 MiB/s, 3 s left".
  std::string progress_text() const;

  /// Returns the summary of a finished step, without the component: "unpacked x: 345.0 MiB in 3.5 s, 98.2 MiB/s".
  std::string summary() const;

  const core::Progress& last() const { return last_; }
  Time last_time() const { return last_time_; }

 private:
  struct Sample {
    Time time;
    std::uint64_t done;
  };
  /// Returns amount, rate and remaining time.
  std::vector<std::string> numbers() const;
  /// Returns the rate per second since that sample; nothing in the first half second.
  std::optional<double> rate_since(const Sample& sample) const;

  std::string component_;
  core::Progress last_;
  Time last_time_;
  std::optional<Sample> first_;
  std::deque<Sample> recent_;  ///< from the last few seconds
};

/// Returns the part of a label before ": ". The part after it is the current item: too much for a log.
std::string step_of(const std::string& label);

/// Returns the text with its middle replaced by "..." when it is wider.
std::string shortened(const std::string& text, std::size_t columns);

}  // namespace slipway::cli
