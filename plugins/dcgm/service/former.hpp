// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/service/former.hpp - what the files said that the service was run with before in this process: a reload
// (SIGHUP) with a mistake in one of them must not take the metrics away.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dcgm/component/host_check.hpp"

namespace slipway::dcgm {

struct Former {
  Settings asked;     ///< as read_settings() gave them
  Settings settings;  ///< with its config file
  std::shared_ptr<const Counters> counters;
};

/// What the service is to be run with.
struct Beginning {
  Settings settings;                         ///< after take_config()
  std::shared_ptr<const Counters> counters;  ///< of before; null: the file of counters can be read, or there was none
  std::string problem;                       ///< of the config file, where what it said before counts
};

/// The files of a new spec have to be right after a reload, so that the former spec can go on; a file that was right
/// before, and is broken now, counts as it was. A service that begins takes a broken file of counters: it goes on
/// without metrics of GPUs until that is mended.
/// Errors: those of read_config_file(), and after a reload those of counters_of(), check_web_config(), rules_of_host().
Result<Beginning> begin_with(const Settings& asked, const Host& host, const std::optional<Former>& former);

}  // namespace slipway::dcgm
