// SPDX-License-Identifier: Apache-2.0
// base/command_line/read_words.hpp - reads the words of a command line by its table. Boost.Program_options parses them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <slipway/command_line.hpp>
#include <slipway/result.hpp>

namespace slipway::command_line {

/// The value of an environment variable; nothing when it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_variable(const std::string& name);

/// Reads the words, then the variables of options that are not among the words. Throws nothing.
///
/// Errors: `usage`          an invalid word; names the nearest option if there is one
///         `plugin_defect`  the table itself is wrong: see check_options()
Result<CommandWords> read_words(const CommandTable& table, const std::vector<std::string>& words,
                                const Variables& variables = process_variable);

/// Reads these options among words that may contain other options. The arguments are then the words that do not look
/// like options. A repeated option has its last value. Invalid words are left for read_words() to report.
CommandWords find_options(const std::vector<CommandOption>& options, const std::vector<std::string>& words);

/// Checks that the names of options are unique, and consist of letters, digits, '-', '_' and '.'. Tables of plugins are
/// untrusted input. Errors: `plugin_defect`.
Status check_options(const std::vector<CommandOption>& options);

/// True when --help or -h is among the words.
bool asks_for_help(const std::vector<std::string>& words);

}  // namespace slipway::command_line
