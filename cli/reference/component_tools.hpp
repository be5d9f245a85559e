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
  std::vector<CommandOption> options;  ///< without their help
};

/// Asks the plugins; one that does not answer has none. @param component  only its tools; empty: those of all
std::vector<ComponentTool> component_tools(const std::string& component, TerminalUi& ui);

}  // namespace slipway::core
