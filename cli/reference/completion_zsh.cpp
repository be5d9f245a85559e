// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/reference.hpp"

namespace slipway::cli {
namespace {

std::string zsh_quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

/// Escapes text for _arguments and _describe, where colons and brackets have a meaning.
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
      return "{compadd -- $(_slipway_names profiles)}";
    case ValueKind::kernel:
      return "{compadd /lib/modules/*(N:t)}";
    default:
      return "_files";
  }
}

std::string option_words(const CommandOption& option) {
  std::string behind = "[" + zsh_plain(option.help) + "]";
  if (value_kind(option) != ValueKind::none) behind += ":" + zsh_plain(option.value) + ":" + value_action(option);
  if (option.letter == 0) return zsh_quoted((option.repeats ? "*" : "") + long_name(option) + behind);
  const std::string both = "(" + short_name(option) + " " + long_name(option) + ")";
  return zsh_quoted(both + short_name(option) + behind) + " " + zsh_quoted(both + long_name(option) + behind);
}

std::string word_action(const Command& command) {
  switch (word_kind(command)) {
    case WordKind::none:
      return "";
    case WordKind::components:
      return "*:component:{compadd -- $(_slipway_names components)}";
    case WordKind::services:
      return "*:component:{compadd -- $(_slipway_names services)}";
    case WordKind::commands:
      return "*:command:(" + command_names() + ")";
    case WordKind::generations:
      return "*:generation:{compadd -- $(_slipway_names generations -- ${words[2,CURRENT-1]})}";
    case WordKind::file:
      return "*:file:_files";
  }
  return "";
}

/// Returns the branch of a case for one command line.
std::string call_case(const Call& call) {
  std::string text = "    '" + call.words + "')\n      _arguments \\\n";
  for (const CommandOption& option : options_of(*call.command)) text += "        " + option_words(option) + " \\\n";
  // The words of the call itself count as arguments.
  const std::string rest = word_action(*call.command);
  return text + "        " + zsh_quoted(rest.empty() ? "*: : " : rest) + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::ostringstream text;
  text << "#compdef slipway\n# zsh completion for slipway, made by `slipway completion zsh`\n\n_slipway_names() { "
          "${~words[1]} completion names $@ 2>/dev/null }\n\n_slipway() {\n"
          "  local -a commands found\n  commands=(\n";
  for (const Command& command : commands())
    text << "    " << zsh_quoted(command.name + ":" + zsh_plain(command.purpose)) << '\n';
  text << R"X(  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'slipway command' commands
    compadd -- $(_slipway_names tools)
    return
  fi
  if [[ -z ${commands[(r)$words[2]:*]} ]]; then
    [[ $words[CURRENT-1] != -* ]] || found=($(_slipway_names values -- ${words[2,CURRENT-1]}))
    if (( ! $#found )) && [[ $PREFIX == -* ]]; then
      found=($(_slipway_names options -- ${words[2,CURRENT-1]}))
    elif (( ! $#found )); then
      found=($(_slipway_names tools -- ${words[2,CURRENT-1]}))
    fi
    if (( $#found )); then compadd -- $found; else _files; fi
    return
  fi
  local call=$words[2]
  case $call in
)X";
  for (const Command& command : commands())
    if (!command.verbs.empty())
      text << "    " << command.name << ")\n      if (( CURRENT == 3 )); then compadd -- " << verbs_of(command)
           << "; return; fi\n      call=\"$call $words[3]\"\n      ;;\n";
  text << "  esac\n  case $call in\n";
  for (const Call& call : all_calls()) text << call_case(call);
  text << "  esac\n}\n\nif [[ $funcstack[1] == _slipway ]]; then\n  _slipway \"$@\"\nelse\n"
          "  compdef _slipway slipway\nfi\n";
  return text.str();
}

}  // namespace slipway::cli
