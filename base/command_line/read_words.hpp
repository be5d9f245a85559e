// SPDX-License-Identifier: Apache-2.0
// base/command_line/read_words.hpp - reads the words of a command line by its table. Boost.Program_options does the
// reading.
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

/// Reads the words; then the variables of the options that the words do not give. Nothing is thrown.
///
/// Errors: `usage`          a wrong word, naming the nearest option where there is one
///         `plugin_defect`  the table itself is wrong: see check_options()
Result<CommandWords> read_words(const CommandTable& table, const std::vector<std::string>& words,
                                const Variables& variables = process_variable);

/// Reads these options in words that may hold others too. The arguments are then the words that are not options, as far
/// as that can be told. Of an option that is given twice the last counts; words that are wrong are left for
/// read_words() to report.
CommandWords find_options(const std::vector<CommandOption>& options, const std::vector<std::string>& words);

/// Whether options can be told apart: names of letters, digits, '-', '_' and '.', none of them twice. Tables of plugins
/// are foreign input.
/// Errors: `plugin_defect`.
Status check_options(const std::vector<CommandOption>& options);

/// Whether --help or -h is among the words.
bool asks_for_help(const std::vector<std::string>& words);

}  // namespace slipway::command_line
