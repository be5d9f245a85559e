// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/component/tools.hpp - `slipway dcgm metrics`: the service's answer to a scrape, without the service.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/commands.hpp>
#include <slipway/result.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/exposition/exposition.hpp"

namespace slipway::dcgm {

struct MetricsOptions {
  std::chrono::milliseconds interval{100};  ///< between the two samples
  Counters counters;
  NameSets names;
  std::string driver_root = "/";
};

/// Relative paths start at the working directory. Errors: `invalid` an interval that is invalid or too long; those of
/// the file of counters.
Result<MetricsOptions> read_metrics_options(const CommandWords& words);

/// `slipway dcgm health-rules` prints slipway's rules merged with the site's file. Errors: a mistake in that file.
Tool health_rules_tool();

/// `slipway dcgm overview`.
Tool overview_tool();

/// The tools of the component. slipway replaces itself with the program `top`, so `top` does not take the options of
/// plugin tools.
class Tools final : public ToolTable {
 public:
  Tools();
};

}  // namespace slipway::dcgm
