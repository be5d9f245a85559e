// SPDX-License-Identifier: Apache-2.0
// cli/reference/component_tools.hpp - the tools of the components, as their plugins' own tables have them.
#pragma once

#include <string>
#include <vector>

#include "cli/reference/reference.hpp"

namespace slipway::core {

struct ComponentTool {
  std::string component;
  std::string name;
  std::string purpose;
  std::vector<CommandOption> options;  ///< those that its help names
};

/// Asks the plugins; one that does not answer has none. @param component  only its tools; empty: those of all
std::vector<ComponentTool> component_tools(const std::string& component, TerminalUi& ui);

bool has_tools(const Manifest& component);

/// The plugin file of that name, "…/toolkit.so" for "toolkit"; null: there is none.
const PluginFile* plugin_of_name(const Plugins& plugins, const std::string& name);

/// `slipway top` for `slipway dcgm top`: a tool whose program is called slipway-TOOL is a command of its own.
/// @return the words with the component in front; as they are where the first is no such tool
std::vector<std::string> with_component(const Plugins& plugins, std::vector<std::string> words);

/// The words that a tool's command line may begin with: components that have tools, plugins that
/// hold one, and tools that are commands of their own.
std::vector<std::string> tool_names(const Plugins& plugins);

}  // namespace slipway::core
