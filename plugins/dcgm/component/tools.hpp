// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/component/tools.hpp - `slipway dcgm metrics`: what the service would answer a scrape with, without the
// service.
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
  std::chrono::milliseconds interval{100};  ///< between the two looks
  Counters counters;
  NameSets names;
  std::string driver_root = "/";
};

/// Relative paths are those of the working directory.
/// Errors: `invalid` an interval that is none or too long; those of the file of counters.
Result<MetricsOptions> read_metrics_options(const CommandWords& words);

/// `slipway dcgm health-rules` prints slipway's rules with the site's file over them; a mistake in that file is its
/// error.
Tool health_rules_tool();

/// `slipway dcgm overview`.
Tool overview_tool();

/// `top` is a program of its own, which slipway becomes: without its options for tools that a plugin runs.
class Tools final : public ToolTable {
 public:
  Tools();
};

}  // namespace slipway::dcgm
