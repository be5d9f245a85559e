// SPDX-License-Identifier: Apache-2.0
// cli/options/command.hpp - the definition of a command: its words, its options, and their parsing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/command_line.hpp>

#include "cli/options/options.hpp"

namespace slipway::cli {

class TerminalUi;

/// The function of a command: returns its exit code, or the error that main prints.
using CommandRun = Result<int> (*)(const Options& options, TerminalUi& ui);

struct Command {
  std::string name;     ///< "plan"; for a verb only "new"
  std::string usage;    ///< the text after "slipway ": the name (for a verb after its command's) and the arguments
  std::string purpose;  ///< one line; empty: hidden from help and completion
  CommandRun run = {};  ///< null for a command with verbs
  std::vector<std::string> examples = {};
  std::vector<std::string> options = {};        ///< shared options, by long name; in addition to --help and --verbose
  std::vector<CommandOption> own_options = {};  ///< options of its own, or replacements of shared ones of that name
  std::size_t least_arguments = 0;              ///< words that are not options
  std::size_t most_arguments = 0;
  std::vector<Command> verbs = {};  ///< the next word is one of these
};

const std::vector<Command>& commands();

/// Returns the command of that name among those; null if not found.
const Command* find_command(const std::vector<Command>& known, std::string_view name);

/// Returns all options of a command.
std::vector<CommandOption> options_of(const Command& command);

/// Returns the table for parsing a command's line and for its help.
CommandTable line_of(const Command& command);

/// Errors: `usage`.
Result<Options> read_options(const Command& command, const std::vector<std::string>& words);

}  // namespace slipway::cli
