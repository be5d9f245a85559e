// SPDX-License-Identifier: Apache-2.0
// base/command_line/tools.hpp - the tools of a component: their tables as the plugin sends them, their help, and what a
// tool is given of its command line.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::command_line {

/// What slipway itself takes for every tool that a plugin runs, wherever it stands among the tool's own words. The tool
/// never sees these options; its help and the completions list them.
const std::vector<CommandOption>& options_for_tools();

/// Reads a plugin's reply to "tools", which is foreign input. A line that leaves `call`, `usage` or `about` out has
/// "slipway COMPONENT TOOL", "[options]", and the purpose.
/// Errors: `plugin_defect`.
Result<std::vector<ToolInfo>> tools_from_json(const std::string& component, const Json& reply);

/// Errors: `usage`, naming the nearest tool.
Result<ToolInfo> find_tool(const std::string& component, const std::vector<ToolInfo>& tools, const std::string& name);

/// `slipway NAME --help`: the tools, and how to ask for more.
std::string tools_text(const std::string& component, const std::vector<ToolInfo>& tools);

/// `slipway NAME TOOL --help`, with options_for_tools().
std::string tool_text(const ToolInfo& tool);

/// The tool's table with further options of slipway's.
/// Errors: `plugin_defect`  the tool has one of them itself
Result<CommandTable> with_options(const ToolInfo& tool, const std::vector<CommandOption>& more);

/// The request "tool", but for `component`, `spec` and `host`.
Json tool_request(const std::string& tool, const CommandWords& words);

}  // namespace slipway::command_line
