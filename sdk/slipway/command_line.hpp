// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/command_line.hpp - a command line as a table, from which slipway reads the words and makes the help, the
// completions and the manual page; and what the words say once they are read.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/error.hpp>

namespace slipway {

/// An option: "--output FILE", "--output=FILE", "-o FILE", "-oFILE". A flag has no value, or one of Go's words for true
/// and false behind a "=".
struct CommandOption {
  std::string name;  ///< "output"; a single letter is an option without a long name
  /// "FILE"; "text|json": one of these words, when it begins with a small letter; "[=FILE]": it may be left out, reads
  /// as "" then, and is never the next word; empty: a flag
  std::string value = {};
  std::string help = {};                    ///< empty: no help and no completion names it
  char letter = 0;                          ///< 'o'; 0: none
  std::vector<std::string> variables = {};  ///< of the environment: the first that is set stands for the option
  std::vector<std::string> aliases = {};    ///< further long names
  bool repeats = false;                     ///< may be given several times
  bool required = false;                    ///< a command line without it is wrong
};

inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

struct CommandTable {
  std::string call = {};   ///< "slipway driver build"
  std::string usage = {};  ///< what follows it in the help's first line: "[options] FILE…"
  std::string about = {};  ///< the help's sentences; lines are broken
  std::string notes = {};  ///< what stands below the options
  std::vector<CommandOption> options = {};
  std::size_t least_arguments = 0;  ///< words that are no options
  std::size_t most_arguments = 0;
  std::vector<std::string> examples = {};  ///< whole command lines
  bool last_counts = false;      ///< an option that is given again takes the place of the earlier one: no mistake
  bool empty_variables = false;  ///< a variable that is set to nothing stands for its option as well

  /// Of code `usage`; it points to the help.
  Error wrong(std::string what) const;
};

/// What the words of a command line say.
struct CommandWords {
  std::map<std::string, std::vector<std::string>, std::less<>> values;  ///< by name; a flag's is "true" or "false"
  std::vector<std::string> arguments;
  bool help = false;  ///< --help or -h is among them; then nothing else was read

  bool given(std::string_view name) const { return values.contains(name); }
  /// The last value.
  std::string text(std::string_view name, std::string_view otherwise = {}) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  /// All values.
  std::vector<std::string> texts(std::string_view name) const;
  /// All values, each a list with commas.
  std::vector<std::string> list(std::string_view name) const;
};

/// It has a value only behind a "=", and need not.
bool may_lack_value(const CommandOption& option);

/// "text" and "json" of "text|json"; none when the value is no choice.
std::vector<std::string> choices_of(const CommandOption& option);

/// What `CALL --help` prints.
std::string help_text(const CommandTable& table);
/// The options of it, a line or more for each.
std::string options_text(const std::vector<CommandOption>& options);

}  // namespace slipway
