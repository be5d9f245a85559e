// SPDX-License-Identifier: Apache-2.0
// plugin-check/installed_plugins.hpp - the plugins that a new plugin will run with: those installed here, or those that
// SLIPWAY_PLUGIN_PATH names.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {

/// Returns the plugins of SLIPWAY_PLUGIN_PATH and of the installation, sorted by file. Leaves out a file with the
/// plugin's own name, which is an earlier version. Another file with a component of the same name is a finding
/// ("plugin.beside"), and is left out.
std::vector<PluginFile> plugins_beside(const PluginFile& plugin, Findings& findings);

/// Adds a warning ("plugin.order") for each component whose `after` or `requires` names an unknown component or
/// capability.
void find_unknown_order(const PluginFile& plugin, const std::vector<PluginFile>& others, Findings& findings);

}  // namespace slipway::core
