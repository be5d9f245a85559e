// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/run_settings.hpp - the last valid content of the service's files in this process: a reload
// (SIGHUP) with a mistake in one of them must not stop the metrics.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dcgm/component/host_check.hpp"

namespace slipway::dcgm {

struct FormerRun {
  Settings asked;     ///< as read_settings() gave them
  Settings settings;  ///< with its config file
  std::shared_ptr<const Counters> counters;
};

/// The settings and counters that the service starts with.
struct RunSettings {
  Settings settings;                         ///< after take_config()
  std::shared_ptr<const Counters> counters;  ///< counters of the previous run; null: the file of counters can be read,
                                             ///< or there was no previous run
  std::string problem;                       ///< what is wrong with the config file, if its previous content is used
};

/// Prepares the service. After a reload the files of a new spec must be valid, else the former spec stays; a file that
/// was valid before and is broken now keeps its previous content. A service that starts accepts a broken file of
/// counters: it runs without GPU metrics until the file is fixed. Errors: those of read_config_file(), and after a
/// reload those of counters_of(), check_web_config(), rules_of_host().
Result<RunSettings> settings_for_run(const Settings& asked, const Host& host, const std::optional<FormerRun>& former);

}  // namespace slipway::dcgm
