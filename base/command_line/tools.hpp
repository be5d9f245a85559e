// SPDX-License-Identifier: Apache-2.0
// base/command_line/tools.hpp - the tools of a component: their tables from the plugin, their help, and the command
// line of a tool.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::command_line {

/// The options of slipway itself for every tool that a plugin runs, in any place among the tool's words. The tool never
/// sees them; its help and the completions list them.
const std::vector<CommandOption>& options_for_tools();

/// Reads a plugin's reply to "tools", which is untrusted. The defaults of `call`, `usage` and `about` are
/// "slipway COMPONENT TOOL", "[options]", and the purpose.
/// Errors: `plugin_defect`.
Result<std::vector<ToolInfo>> tools_from_json(const std::string& component, const Json& reply);

/// Errors: `usage`, naming the nearest tool.
Result<ToolInfo> find_tool(const std::string& component, const std::vector<ToolInfo>& tools, const std::string& name);

/// `slipway NAME --help`: the tools, and how to ask for more.
std::string tools_text(const std::string& component, const std::vector<ToolInfo>& tools);

/// `slipway NAME TOOL --help`, with options_for_tools().
std::string tool_text(const ToolInfo& tool);

/// The tool's table with additional options of slipway's.
/// Errors: `plugin_defect`  the tool has one of them itself
Result<CommandTable> with_options(const ToolInfo& tool, const std::vector<CommandOption>& more);

/// The request "tool", without `component`, `spec` and `host`.
Json tool_request(const std::string& tool, const CommandWords& words);

}  // namespace slipway::command_line
