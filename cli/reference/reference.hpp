// SPDX-License-Identifier: Apache-2.0
// cli/reference/reference.hpp - shell completions and the manual page, made from the tables of commands and options.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <slipway/text.hpp>

#include "cli/front/option_table.hpp"
#include "cli/options/command.hpp"

namespace slipway::core {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

struct ComponentTool;
/// slipway(1), as troff source.
std::string manual_page(const std::vector<ComponentTool>& tools);

/// "--file", and "-f" where it has a letter.
inline std::string long_name(const CommandOption& option) {
  return (option.name.size() == 1 ? "-" : "--") + option.name;
}
inline std::string short_name(const CommandOption& option) {
  return option.letter == 0 ? "" : std::string{'-', option.letter};
}

/// What may stand behind an option, as a shell sees it.
enum class ValueKind { none, words, components, folder, profile, kernel, file };

/// "text|json" is a choice of words; a name in capitals stands for something.
inline ValueKind value_kind(const CommandOption& option) {
  if (option.value.empty() || may_lack_value(option)) return ValueKind::none;  // none of its own word
  if (!choices_of(option).empty()) return ValueKind::words;
  if (option.value == "A,B") return ValueKind::components;
  if (option.value == "DIR") return ValueKind::folder;
  if (option.value == "PROFILE") return ValueKind::profile;
  if (option.value == "RELEASE") return ValueKind::kernel;
  return ValueKind::file;
}

/// Every `from` of the text replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// "text json" of "text|json".
inline std::string words_of(const CommandOption& option) { return replaced(option.value, "|", " "); }

/// A command or verb as it is called, "plan" and "plugin new", for all that a help names.
struct Call {
  std::string words;
  const Command* command;  ///< of commands(), for as long as the program runs
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

/// "bash zsh": the verbs of a command.
inline std::string verbs_of(const Command& command) {
  std::string names;
  for (const Command& verb : command.verbs)
    if (!verb.purpose.empty()) names += (names.empty() ? "" : " ") + verb.name;
  return names;
}

/// "plan apply …": all commands.
inline std::string command_names() { return joined(commands(), " ", &Command::name); }

/// "plugin pkg …": those that have verbs.
inline std::vector<std::string> commands_with_verbs() {
  std::vector<std::string> names;
  for (const Command& command : commands())
    if (!command.verbs.empty()) names.push_back(command.name);
  return names;
}

/// What follows a command beside its options.
enum class WordKind { none, components, services, commands, file };

inline WordKind word_kind(const Command& command) {
  if (command.most_arguments == 0) return WordKind::none;
  if (command.name == "help") return WordKind::commands;
  if (command.usage.find("COMPONENT") != std::string::npos) return WordKind::components;
  return command.usage.starts_with("service NAME") ? WordKind::services : WordKind::file;
}

}  // namespace slipway::core
