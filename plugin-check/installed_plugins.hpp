// SPDX-License-Identifier: Apache-2.0
// plugin-check/installed_plugins.hpp - the plugins that a new plugin will run with: those installed here, or those that
// SLIPWAY_PLUGIN_PATH names.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/loader/plugin_file.hpp"

namespace slipway::plugin_check {

/// Returns the plugins of SLIPWAY_PLUGIN_PATH and of the installation, sorted by file. Leaves out a file with the
/// plugin's own name, which is an earlier version. Another file with a component of the same name is a finding
/// ("plugin.beside"), and is left out.
std::vector<core::PluginFile> plugins_beside(const core::PluginFile& plugin, Findings& findings);

/// Adds a warning ("plugin.order") for each component whose `after` or `requires` names an unknown component or
/// capability.
void find_unknown_order(const core::PluginFile& plugin, const std::vector<core::PluginFile>& others,
                        Findings& findings);

}  // namespace slipway::plugin_check
