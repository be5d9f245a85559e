// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/command_line/run_tool.hpp - runs a tool of a component as slipway does, with the words of a command
// line.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "base/command_line/read_words.hpp"
#include "base/command_line/tools.hpp"

namespace slipway::testing {

/// Errors: those of the words, and of the tool.
inline Result<int> run_tool(const Commands& commands, const std::string& tool, const std::vector<std::string>& words,
                            const Host& host, ToolIo& io) {
  SLIPWAY_TRY(info, command_line::find_tool("acme", commands.list(), tool));
  SLIPWAY_TRY(read, command_line::read_words(info.line, words));
  return commands.run(tool, read, host, io);
}

}  // namespace slipway::testing
