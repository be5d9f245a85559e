// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/rules_watch.hpp - the rules of a service, which follow the site's file.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <slipway/root_dir.hpp>

#include "nvidia/health/rules.hpp"

namespace slipway::nvidia::health {

/// Used by one thread.
class RulesWatch {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;
  using Clock = std::chrono::steady_clock;
  using Check = std::function<Status(const Rules&)>;

  /// @param check  further requirements of the service; empty: none
  RulesWatch(RootDir root, std::string path, Log log, Check check = {})
      : root_(std::move(root)), path_(std::move(path)), log_(std::move(log)), check_(std::move(check)) {}

  /// Reads the file again when it has changed, at most every two seconds; every ten if the caller watches file() and
  /// calls changed(). While the file is invalid the previous rules stay.
  void look(Clock::time_point now);
  /// The file has changed: the next check reads it.
  void changed() { next_ = {}; }
  /// The caller watches the file and calls changed().
  void is_watched() { every_ = std::chrono::seconds(10); }
  /// Returns when look() has something to do.
  Clock::time_point next() const { return next_; }
  const std::string& file() const { return path_; }

  /// Never null; rules that were returned before stay unchanged.
  const std::shared_ptr<const Rules>& rules() const { return rules_; }
  /// Describes what is wrong with the file; empty: nothing.
  const std::string& problem() const { return problem_; }

 private:
  RootDir root_;
  std::string path_;
  Log log_;
  Check check_;
  std::optional<std::string> text_;
  std::string problem_;
  std::shared_ptr<const Rules> rules_ = std::make_shared<const Rules>(default_rules());
  std::chrono::seconds every_{2};
  Clock::time_point next_;
  bool looked_ = false;
};

}  // namespace slipway::nvidia::health
