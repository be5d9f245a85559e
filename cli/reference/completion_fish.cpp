// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/reference.hpp"

namespace slipway::core {
namespace {

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string value_words(const CommandOption& option) {
  switch (value_kind(option)) {
    case ValueKind::none:
      return "";
    case ValueKind::words:
      return " -x -a " + fish_quoted(words_of(option));
    case ValueKind::components:
      return " -x -a '(__fish_complete_list , \"__slipway_names components\")'";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::profile:
      return " -x -a '(path basename -E /usr/share/slipway/sim/*.yaml)'";
    case ValueKind::kernel:
      return " -x -a '(command ls /lib/modules)'";
    case ValueKind::file:
      return " -r -F";
  }
  return "";
}

}  // namespace

std::string fish_completion() {
  std::ostringstream text;
  text << "# fish completion for slipway, made by `slipway completion fish`\n\n"
          "function __slipway_names\n    set -l words (commandline -opc)\n    $words[1] completion $argv "
          "2>/dev/null\nend\n\n"
          "complete -c slipway -n __fish_use_subcommand -f\n"
          "complete -c slipway -n __fish_use_subcommand -a '(__slipway_names tools)'\n";
  for (const auto& [name, purpose] : command_names())
    text << "complete -c slipway -n __fish_use_subcommand -a " << name << " -d " << fish_quoted(purpose) << '\n';
  const std::string names = joined(command_names(), " ", [](const auto& command) { return command.first; });
  text << "complete -c slipway -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from " << names
       << "' -a '(set -l words (commandline -opc); test (count $words) = 2; and __slipway_names tools $words[2]; or "
          "__slipway_names options $words[2..3])'\n";
  for (const Command& command : commands())
    if (!command.words.empty())
      text << "complete -c slipway -n '__fish_seen_subcommand_from " << command.name << "' -a "
           << fish_quoted(joined(command.words, " ")) << '\n';
  for (const Command& command : commands())
    if (const std::string kind = names_behind(command); !kind.empty())
      text << "complete -c slipway -n '__fish_seen_subcommand_from " << command.name << "' -f -a '(__slipway_names "
           << kind << ")'\n";
  for (const CommandOption& option : all_options())
    text << "complete -c slipway" << (option.letter == 0 ? "" : std::string(" -s ") + option.letter) << " -l "
         << option.name << value_words(option) << " -d " << fish_quoted(option.help) << '\n';
  return text.str();
}

}  // namespace slipway::core
