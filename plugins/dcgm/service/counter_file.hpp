// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/counter_file.hpp - the counters of the settings' file, as it is now.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <slipway/root_dir.hpp>
#include <slipway/service.hpp>

#include "dcgm/settings.hpp"

namespace slipway::dcgm {

/// Used by one thread.
class CounterFile {
 public:
  /// @param settings  after take_config()
  /// @param former    what counts until the file can be read; may be null
  CounterFile(RootDir root, Settings settings, std::shared_ptr<const Counters> former = nullptr)
      : root_(std::move(root)), settings_(std::move(settings)), counters_(std::move(former)) {}

  /// Reads the file again when it has changed. What was read before counts as long as it cannot be read. That the
  /// config file has changed, which counts from the next start, is logged.
  void update(ServiceIo& io);
  /// Null: none was ever read.
  const std::shared_ptr<const Counters>& counters() const { return counters_; }
  /// What is wrong with the file, and what is to be done; empty: nothing.
  const std::string& problem() const { return problem_; }

 private:
  void look_at_config(ServiceIo& io);

  RootDir root_;
  Settings settings_;
  std::optional<std::string> config_text_;  ///< of the config file, as it was when it was looked at last
  std::string text_;
  std::string problem_;
  std::shared_ptr<const Counters> counters_;
};

}  // namespace slipway::dcgm
