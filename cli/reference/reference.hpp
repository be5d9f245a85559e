// SPDX-License-Identifier: Apache-2.0
// cli/reference/reference.hpp - shell completions and the manual page, made from the tables of commands and options.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "cli/front/option_table.hpp"

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

/// The commands and those that main() answers itself.
inline std::vector<std::pair<std::string, std::string>> command_names() {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Command& command : commands()) names.emplace_back(command.name, command.purpose);
  names.emplace_back("version", "prints the version");
  names.emplace_back("help", "lists commands and options");
  return names;
}

/// Which names may follow a command, as `slipway completion NAMES` prints them; empty: none.
inline std::string names_behind(const Command& command) {
  if (command.usage.find("COMPONENT") != std::string::npos) return "components";
  return command.usage.starts_with("service NAME") ? "services" : "";
}

}  // namespace slipway::core
