// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/reference.hpp"

namespace slipway::core {
namespace {

std::string zsh_quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

/// For _arguments and _describe, where colons and brackets mean something.
std::string zsh_plain(std::string text) {
  for (const char* mark : {"\\", ":", "[", "]"}) text = replaced(text, mark, std::string("\\") + mark);
  return text;
}

std::string value_action(const CommandOption& option) {
  switch (value_kind(option)) {
    case ValueKind::words:
      return "(" + words_of(option) + ")";
    case ValueKind::components:
      return "{_values -s , component $(_slipway_names components)}";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::profile:
      return "{compadd /usr/share/slipway/sim/*.yaml(N:t:r)}";
    case ValueKind::kernel:
      return "{compadd /lib/modules/*(N:t)}";
    default:
      return "_files";
  }
}

std::string option_words(const CommandOption& option) {
  std::string behind = "[" + zsh_plain(option.help) + "]";
  if (value_kind(option) != ValueKind::none) behind += ":" + zsh_plain(option.value) + ":" + value_action(option);
  if (option.letter == 0) return zsh_quoted(long_name(option) + behind);
  const std::string both = "(" + short_name(option) + " " + long_name(option) + ")";
  return zsh_quoted(both + short_name(option) + behind) + " " + zsh_quoted(both + long_name(option) + behind);
}

}  // namespace

std::string zsh_completion() {
  std::ostringstream text;
  text << "#compdef slipway\n# zsh completion for slipway, made by `slipway completion zsh`\n\n_slipway_names() { "
          "${~words[1]} completion $@ 2>/dev/null }\n\n_slipway() {\n"
          "  local -a commands\n  commands=(\n";
  for (const auto& [name, purpose] : command_names())
    text << "    " << zsh_quoted(name + ":" + zsh_plain(purpose)) << '\n';
  text << "  )\n  if (( CURRENT == 2 )); then\n    _describe -t commands 'slipway command' commands\n    compadd -- "
          "$(_slipway_names tools)\n    return\n  fi\n"
          "  if [[ -z ${commands[(r)$words[2]:*]} ]]; then\n"
          "    if (( CURRENT == 3 )); then compadd -- $(_slipway_names tools $words[2])\n"
          "    elif [[ $PREFIX == -* ]]; then compadd -- $(_slipway_names options $words[2] $words[3])\n"
          "    else _files; fi\n    return\n  fi\n"
          "  if (( CURRENT == 3 )); then\n    case $words[2] in\n";
  for (const Command& command : commands())
    if (!command.words.empty())
      text << "      " << command.name << ") compadd -- " << joined(command.words, " ") << "; return ;;\n";
  text << "    esac\n  fi\n  local names=_files\n  case $words[2] in\n";
  for (const Command& command : commands())
    if (const std::string kind = names_behind(command); !kind.empty())
      text << "    " << command.name << ") names='{compadd -- $(_slipway_names " << kind << ")}' ;;\n";
  text << "  esac\n  _arguments \\\n";
  for (const CommandOption& option : all_options()) text << "    " << option_words(option) << " \\\n";
  text << "    \"*:word:$names\"\n}\n\nif [[ $funcstack[1] == _slipway ]]; then\n  _slipway \"$@\"\nelse\n"
          "  compdef _slipway slipway\nfi\n";
  return text.str();
}

}  // namespace slipway::core
