// SPDX-License-Identifier: Apache-2.0
// cli/reference/reference.hpp - shell completions and the manual page, made from the tables of commands and options.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <slipway/text.hpp>

#include "cli/front/option_table.hpp"
#include "cli/options/command.hpp"

namespace slipway::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

struct ComponentTool;
/// Returns slipway(1) as troff source.
std::string manual_page(const std::vector<ComponentTool>& tools);

/// Returns "--file", and "-f" when the option has a letter.
inline std::string long_name(const CommandOption& option) {
  return (option.name.size() == 1 ? "-" : "--") + option.name;
}
inline std::string short_name(const CommandOption& option) {
  return option.letter == 0 ? "" : std::string{'-', option.letter};
}

/// The kind of value that an option takes, for a shell's completion.
enum class ValueKind { none, words, components, folder, profile, kernel, file };

/// "text|json" is a choice of words; a name in capitals stands for any value, such as DIR.
inline ValueKind value_kind(const CommandOption& option) {
  if (option.value.empty() || may_lack_value(option)) return ValueKind::none;  // not as a separate word
  if (!choices_of(option).empty()) return ValueKind::words;
  if (option.value == "A,B") return ValueKind::components;
  if (option.value == "DIR") return ValueKind::folder;
  if (option.value == "PROFILE") return ValueKind::profile;
  if (option.value == "RELEASE") return ValueKind::kernel;
  return ValueKind::file;
}

/// Returns the text with every `from` replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Returns "text json" for "text|json".
inline std::string words_of(const CommandOption& option) { return replaced(option.value, "|", " "); }

/// A command or verb as typed, "plan" and "plugin new", for all that the help lists.
struct Call {
  std::string words;
  const Command* command;  ///< from commands(), valid as long as the program runs
};

inline std::vector<Call> all_calls() {
  std::vector<Call> calls;
  for (const Command& command : commands()) {
    if (command.verbs.empty()) calls.push_back({command.name, &command});
    for (const Command& verb : command.verbs)
      if (!verb.purpose.empty()) calls.push_back({command.name + " " + verb.name, &verb});
  }
  return calls;
}

/// Returns "bash zsh": the verbs of a command.
inline std::string verbs_of(const Command& command) {
  std::string names;
  for (const Command& verb : command.verbs)
    if (!verb.purpose.empty()) names += (names.empty() ? "" : " ") + verb.name;
  return names;
}

/// Returns "plan apply …": all commands.
inline std::string command_names() { return joined(commands(), " ", &Command::name); }

/// Returns "plugin pkg …": the commands that have verbs.
inline std::vector<std::string> commands_with_verbs() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (!command.verbs.empty()) names.push_back(command.name);
  return names;
}

/// The kind of words that a command takes besides its options.
enum class WordKind { none, components, services, commands, generations, file };

inline WordKind word_kind(const Command& command) {
  if (command.most_arguments == 0) return WordKind::none;
  if (command.name == "help") return WordKind::commands;
  if (command.name == "rollback" || command.name == "diff") return WordKind::generations;
  if (command.usage.find("COMPONENT") != std::string::npos) return WordKind::components;
  return command.usage.starts_with("service NAME") ? WordKind::services : WordKind::file;
}

}  // namespace slipway::cli
