// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/command_line.hpp - the table of a command line, which slipway uses to read the words and to make the
// help, the completions and the manual page; and the words after reading.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/error.hpp>

namespace slipway {

/// An option: "--output FILE", "--output=FILE", "-o FILE", "-oFILE". A flag has no value, or one of Go's words for true
/// and false after "=".
struct CommandOption {
  std::string name;  ///< "output"; a single letter is an option without a long name
  /// "FILE"; "text|json": one of these words, when it begins with a small letter; "[=FILE]": optional, reads as "" when
  /// left out, and is never the next word; empty: a flag
  std::string value = {};
  std::string help = {};                    ///< empty: hidden from help and completion
  char letter = 0;                          ///< 'o'; 0: no short form
  std::vector<std::string> variables = {};  ///< environment variables: the first one that is set replaces the option
  std::vector<std::string> aliases = {};    ///< further long names
  bool repeats = false;                     ///< may be given several times
  bool required = false;                    ///< a command line without it is an error
};

inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

struct CommandTable {
  std::string call = {};   ///< "slipway driver build"
  std::string usage = {};  ///< text after it in the help's first line: "[options] FILE…"
  std::string about = {};  ///< the help's sentences; wrapped when printed
  std::string notes = {};  ///< text below the options
  std::vector<CommandOption> options = {};
  std::size_t least_arguments = 0;  ///< words that are not options
  std::size_t most_arguments = 0;
  std::vector<std::string> examples = {};  ///< whole command lines
  bool last_counts = false;                ///< an option given again replaces the earlier value: no error
  bool empty_variables = false;            ///< a variable set to an empty text also replaces its option

  /// Returns an error of code `usage` that points to the help.
  Error wrong(std::string what) const;
};

/// The parsed words of a command line.
struct CommandWords {
  std::map<std::string, std::vector<std::string>, std::less<>> values;  ///< by name; a flag's is "true" or "false"
  std::vector<std::string> arguments;
  bool help = false;  ///< --help or -h is among the words; then nothing else was parsed

  bool given(std::string_view name) const { return values.contains(name); }
  /// Returns the last value.
  std::string text(std::string_view name, std::string_view otherwise = {}) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  /// Returns all values.
  std::vector<std::string> texts(std::string_view name) const;
  /// Returns all values, each split at commas.
  std::vector<std::string> list(std::string_view name) const;
};

/// True when the option's value is optional, and only given after "=".
bool may_lack_value(const CommandOption& option);

/// Returns "text" and "json" for "text|json"; empty when the value is not a choice.
std::vector<std::string> choices_of(const CommandOption& option);

/// Returns the text that `CALL --help` prints.
std::string help_text(const CommandTable& table);
/// Returns the help's part about the options, a line or more for each.
std::string options_text(const std::vector<CommandOption>& options);

}  // namespace slipway
