// SPDX-License-Identifier: Apache-2.0
// cli/options/command.hpp - what a command is: its words, its options, and how they are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/command_line.hpp>

#include "cli/options/options.hpp"

namespace slipway::core {

class TerminalUi;

/// A command: its exit code, or the error that main prints.
using CommandRun = Result<int> (*)(const Options& options, TerminalUi& ui);

struct Command {
  std::string name;     ///< "plan"; that of a verb alone, "new"
  std::string usage;    ///< what follows "slipway ": the name, for a verb behind its command's, and what it takes
  std::string purpose;  ///< one line; empty: no help and no completion names it
  CommandRun run = {};  ///< null: it has verbs
  std::vector<std::string> examples = {};
  std::vector<std::string> options = {};        ///< shared ones, by long name; it takes --help and --verbose besides
  std::vector<CommandOption> own_options = {};  ///< its alone, or in the place of a shared one of that name
  std::size_t least_arguments = 0;              ///< words that are no options
  std::size_t most_arguments = 0;
  std::vector<Command> verbs = {};  ///< the next word is one of these
};

const std::vector<Command>& commands();

/// The command of that name among those, or null.
const Command* find_command(const std::vector<Command>& known, std::string_view name);

/// All options that a command takes.
std::vector<CommandOption> options_of(const Command& command);

/// The table of a command's line, by which it is read and its help made.
CommandTable line_of(const Command& command);

/// Errors: `usage`.
Result<Options> read_options(const Command& command, const std::vector<std::string>& words);

}  // namespace slipway::core
