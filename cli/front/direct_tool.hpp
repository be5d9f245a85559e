// SPDX-License-Identifier: Apache-2.0
// cli/front/direct_tool.hpp - recognizes command lines of plugin tools that need nothing from slipway.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cli {

/// True when a word can be the name of a plugin or component.
bool is_component_name(const std::string& word);

/// The parts of `slipway gfd labels …` or `slipway toolkit cdi generate …`.
struct ToolWords {
  std::string plugin;  ///< name of its file without ".so"
  std::string component;
  std::vector<std::string> rest;  ///< the tool and its arguments
};

/// Returns the ways to read a command line as that of a tool. Empty when it has an option for slipway itself (--sim,
/// -v, --log-format, --help in front), or when the first word is not a name.
std::vector<ToolWords> tool_words(const std::vector<std::string>& words);

/// True when a plugin's manifest (docs/manifest.md) has the component. Reads only the plain form, a key and its value
/// alone on a line: slipway itself handles all other forms.
bool holds_component(std::string_view manifest, std::string_view component);

/// True when a plugin's manifest has the component with the line "direct_tools: true", read in the same way.
bool has_direct_tools(std::string_view manifest, std::string_view component);

/// Returns the program that is a tool of the component, from its line "tool_programs: {TOOL: PROGRAM, …}". Empty when
/// there is none, or the line has another form.
std::string tool_program(std::string_view manifest, std::string_view component, std::string_view tool);

}  // namespace slipway::cli
