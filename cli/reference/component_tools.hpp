// SPDX-License-Identifier: Apache-2.0
// cli/reference/component_tools.hpp - the tools of the components, read from their plugins' tables.
#pragma once

#include <string>
#include <vector>

#include "app/engine.hpp"
#include "cli/reference/reference.hpp"

namespace slipway::cli {

struct ComponentTool {
  std::string component;
  std::string name;
  std::string purpose;
  std::vector<CommandOption> options;  ///< those that its help names
};

/// Asks the plugins; a plugin that does not answer has no tools. @param component  only its tools; empty: those of all
std::vector<ComponentTool> component_tools(const std::string& component, core::Ui& ui);

bool has_tools(const core::Manifest& component);

/// Returns the plugin file of that name, "…/toolkit.so" for "toolkit"; null if not found.
const core::PluginFile* plugin_of_name(const core::Plugins& plugins, const std::string& name);

/// Handles `slipway top` for `slipway dcgm top`: a tool whose program is called slipway-TOOL is its own command.
/// @return the words with the component in front; unchanged when the first word is not such a tool
std::vector<std::string> with_component(const core::Plugins& plugins, std::vector<std::string> words);

/// Returns the possible first words of a tool's command line: components that have tools, plugins that contain one, and
/// tools with a command of their own.
std::vector<std::string> tool_names(const core::Plugins& plugins);

}  // namespace slipway::cli
