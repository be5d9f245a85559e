// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/watch.hpp - a config that may change while the service runs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// Editors and scripts write a file in place, so a look at it may see it empty or half: what differs from what is in
/// force counts when two looks that are `kSettle` apart say the same. What is wrong leaves the last good one in force.
class ConfigWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEvery{2};
  /// For who has the files watched (config_files()) and calls changed().
  static constexpr std::chrono::seconds kEveryWatched{10};
  static constexpr std::chrono::milliseconds kSettle{500};

  enum class News { none, changed, wrong };

  ConfigWatch(Settings in_force, std::function<Result<Settings>()> read, Clock::time_point now,
              std::chrono::seconds every = kEvery)
      : in_force_(std::move(in_force)), read_(std::move(read)), every_(every), next_(now + every) {}

  /// Reads when it is time to.
  News look(Clock::time_point now);
  /// One of the files is another one: the next look reads them.
  void changed() { next_ = {}; }
  /// When look() has something to do.
  Clock::time_point next() const { return next_; }

  /// What the last look saw is new, and counts when the next one, `kSettle` later, sees it again.
  bool settling() const { return unsettled_.has_value(); }
  const Settings& in_force() const { return in_force_; }
  const std::optional<Error>& problem() const { return problem_; }  ///< of the newest config, when it is wrong

 private:
  Settings in_force_;
  std::function<Result<Settings>()> read_;
  std::chrono::seconds every_;
  Clock::time_point next_;
  std::optional<Error> problem_;
  std::optional<Result<Settings>> unsettled_;  ///< what the last look saw, when that was new
};

}  // namespace slipway::nvidia::config
