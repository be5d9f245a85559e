// SPDX-License-Identifier: Apache-2.0
// plugin-check/plugin_clashes.hpp - plans a plugin together with the installed ones, to find a file, a unit or a key
// that another component already claims.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/loader/plugin_file.hpp"
#include "plugin-check/trial.hpp"

namespace slipway::plugin_check {

struct BesideTrial {
  const core::PluginFile& plugin;
  const std::vector<core::PluginFile>& others;  ///< the installed ones
  const Trial& host;                            ///< a fresh one; not changed
  std::string folder;                           ///< for this trial only; created here
  std::string spec;                             ///< the user's; empty: none
  const PlanItems& items;                       ///< what the plugin plans
};

/// Adds a finding "plugin.beside" for each thing that two components claim, and one for the components that could not
/// be planned here, with the reasons. A file of such a component that contains one of the plugin's paths is a warning.
/// Errors: those of running slipway.
Status plan_beside(const BesideTrial& trial, Findings& findings);

}  // namespace slipway::plugin_check
