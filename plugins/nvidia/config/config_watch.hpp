// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/config_watch.hpp - a config that may change while the service runs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// Editors and scripts write a file in place, so a read may see an empty or partial file: a change takes effect when
/// two reads that are `kSettle` apart are equal. After an error the last good config stays active.
class ConfigWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEvery{2};
  /// For a caller that watches the files (config_files()) and calls changed().
  static constexpr std::chrono::seconds kEveryWatched{10};
  static constexpr std::chrono::milliseconds kSettle{500};

  enum class News { none, changed, wrong };

  ConfigWatch(Settings in_force, std::function<Result<Settings>()> read, Clock::time_point now,
              std::chrono::seconds every = kEvery)
      : in_force_(std::move(in_force)), read_(std::move(read)), every_(every), next_(now + every) {}

  /// Reads the files if a check is due.
  News look(Clock::time_point now);
  /// A file has changed: the next check reads the files.
  void changed() { next_ = {}; }
  /// Returns when look() has something to do.
  Clock::time_point next() const { return next_; }

  /// True when the last check saw a change, which takes effect if the next one, `kSettle` later, sees it again.
  bool settling() const { return unsettled_.has_value(); }
  const Settings& in_force() const { return in_force_; }
  const std::optional<Error>& problem() const { return problem_; }  ///< error of the newest config

 private:
  Settings in_force_;
  std::function<Result<Settings>()> read_;
  std::chrono::seconds every_;
  Clock::time_point next_;
  std::optional<Error> problem_;
  std::optional<Result<Settings>> unsettled_;  ///< result of the last check, if it has changed
};

}  // namespace slipway::nvidia::config
