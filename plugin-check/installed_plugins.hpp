// SPDX-License-Identifier: Apache-2.0
// plugin-check/installed_plugins.hpp - the plugins that a plugin will have beside it: those that are installed here, or
// that SLIPWAY_PLUGIN_PATH names.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {

/// The plugins of SLIPWAY_PLUGIN_PATH and of the installation, sorted by file. What has the plugin's own file name is
/// an earlier version of it, and left out. Another file with a component of the same name is a finding
/// ("plugin.beside"), and left out.
std::vector<PluginFile> plugins_beside(const PluginFile& plugin, Findings& findings);

/// A warning ("plugin.order") for each component whose `after` or `requires` names what no component has or provides.
void find_unknown_order(const PluginFile& plugin, const std::vector<PluginFile>& others, Findings& findings);

}  // namespace slipway::core
