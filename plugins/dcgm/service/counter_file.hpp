// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/counter_file.hpp - the counters of the settings' file, in its current version.
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
  /// @param former    the counters to use until the file can be read; may be null
  CounterFile(RootDir root, Settings settings, std::shared_ptr<const Counters> former = nullptr)
      : root_(std::move(root)), settings_(std::move(settings)), counters_(std::move(former)) {}

  /// Reads the file again when it has changed; while it cannot be read, the previous counters stay. Logs a change of
  /// the config file, which takes effect at the next start.
  void update(ServiceIo& io);
  /// Null: the file was never read.
  const std::shared_ptr<const Counters>& counters() const { return counters_; }
  /// Describes what is wrong with the file and the remedy; empty: nothing.
  const std::string& problem() const { return problem_; }

 private:
  void look_at_config(ServiceIo& io);

  RootDir root_;
  Settings settings_;
  std::optional<std::string> config_text_;  ///< text of the config file when it was last read
  std::string text_;
  std::string problem_;
  std::shared_ptr<const Counters> counters_;
};

}  // namespace slipway::dcgm
