// SPDX-License-Identifier: Apache-2.0
// cli/front/direct_tool.hpp - tells whether a command line is that of a plugin's tool which needs nothing of slipway.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::core {

/// Whether a word can be the name of a plugin or component.
bool is_component_name(const std::string& word);

/// `slipway gfd labels …` or `slipway toolkit cdi generate …`, taken apart.
struct ToolWords {
  std::string plugin;  ///< name of its file without ".so"
  std::string component;
  std::vector<std::string> rest;  ///< the tool and its arguments
};

/// The ways to read a command line as that of a tool. Empty when an option in it is for slipway itself (--sim, -v,
/// --log-format, --help in front), or when the first word is not a name.
std::vector<ToolWords> tool_words(const std::vector<std::string>& words);

/// Whether a plugin's manifest (docs/manifest.md) holds the component. Reads only what is written plainly, a key and
/// its value alone on a line: slipway itself answers for all others.
bool holds_component(std::string_view manifest, std::string_view component);

/// Whether a plugin's manifest holds the component with the line "direct_tools: true", read likewise.
bool has_direct_tools(std::string_view manifest, std::string_view component);

/// The program that is a tool of the component: its line "tool_programs: {TOOL: PROGRAM, …}". Empty: none, or the line
/// is written otherwise.
std::string tool_program(std::string_view manifest, std::string_view component, std::string_view tool);

}  // namespace slipway::core
