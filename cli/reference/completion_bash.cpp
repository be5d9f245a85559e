// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/reference.hpp"

namespace slipway::cli {
namespace {

/// Returns the line that completes an option's value.
std::string value_line(const CommandOption& option) {
  switch (value_kind(option)) {
    case ValueKind::words:
      return "_slipway_words '" + words_of(option) + "'";
    case ValueKind::components:
      return "_slipway_list \"$(_slipway_names components)\"";
    case ValueKind::folder:
      return "_slipway_paths -d";
    case ValueKind::profile:
      return R"X(_slipway_words "$(_slipway_names profiles)")X";
    case ValueKind::kernel:
      return R"X(_slipway_words "$(ls /lib/modules 2>/dev/null)")X";
    default:
      return "_slipway_paths -f";
  }
}

/// "--file -f --root"
std::string option_names(const Command& command) {
  std::string names;
  for (const CommandOption& option : options_of(command))
    names += (names.empty() ? "" : " ") + long_name(option) + (option.letter == 0 ? "" : " " + short_name(option));
  return names;
}

/// Returns the branch of a case that completes an option's value. @param call  the words before the option
std::string value_case(const CommandOption& option, const std::string& call) {
  if (option.value.empty()) return {};
  const std::string also = option.letter == 0 ? "" : "'" + call + short_name(option) + "' | ";
  return "      " + also + "'" + call + long_name(option) + "')\n        " + value_line(option) +
         "\n        return\n        ;;\n";
}

/// Returns the line that completes a word that is not an option.
std::string word_line(const Command& command) {
  switch (word_kind(command)) {
    case WordKind::none:
      return ":";
    case WordKind::components:
      return R"X(_slipway_words "$(_slipway_names components)")X";
    case WordKind::services:
      return R"X(_slipway_words "$(_slipway_names services)")X";
    case WordKind::commands:
      return "_slipway_words '" + command_names() + "'";
    case WordKind::generations:
      return R"X(_slipway_words "$(_slipway_names generations -- "${COMP_WORDS[@]:1:COMP_CWORD-1}")")X";
    case WordKind::file:
      return "_slipway_paths -f";
  }
  return ":";
}

}  // namespace

std::string bash_completion() {
  std::ostringstream text;
  text << R"X(# bash completion for slipway, made by `slipway completion bash`

# Not compgen -W, which expands $(…) in the words: some are names of files. They are quoted for the command line.
_slipway_words() {
  local name names
  read -ra names <<<"${1//$'\n'/ }"
  for name in "${names[@]}"; do [[ $name != "$word"* ]] || COMPREPLY+=("$(printf %q "$name")"); done
}
_slipway_names() { "${COMP_WORDS[0]/#\~/$HOME}" completion names "$@" 2>/dev/null; }
_slipway_list() {
  local before="" name names
  [[ $word == *,* ]] && before="${word%,*},"
  compopt -o nospace 2>/dev/null || true
  read -ra names <<<"${1//$'\n'/ }"
  for name in "${names[@]}"; do
    [[ ",$before" == *",$name,"* || $name != "${word##*,}"* ]] || COMPREPLY+=("$before$name")
  done
}
_slipway_paths() {
  compopt -o filenames 2>/dev/null || true
  mapfile -t COMPREPLY < <(compgen "$1" -- "$word")
}
# Of a component's tool: the choices of the option in front, options, or the names of tools.
_slipway_tool() {
  local names="" typed=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
  [[ $before != -* ]] || names=$(_slipway_names values -- "${typed[@]}")
  if [[ -z $names && $word == -* ]]; then
    names=$(_slipway_names options -- "${typed[@]}")
  elif [[ -z $names ]]; then
    names=$(_slipway_names tools -- "${typed[@]}")
  fi
  if [[ -n $names ]]; then _slipway_words "$names"; else _slipway_paths -f; fi
}

_slipway() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" call="${COMP_WORDS[1]}" options=""
  COMPREPLY=()
)X";
  text << "  if ((COMP_CWORD == 1)); then\n    _slipway_words \"" << command_names()
       << " $(_slipway_names tools)\"\n    return\n  fi\n  case \"$call\" in\n";
  for (const Command& command : commands())
    if (!command.verbs.empty())
      text << "    " << command.name << ")\n      if ((COMP_CWORD == 2)); then\n        _slipway_words '"
           << verbs_of(command) << "'\n        return\n      fi\n      call=\"$call ${COMP_WORDS[2]}\"\n      ;;\n";
  text << "    " << joined(split(command_names(), ' '), " | ") << ") ;;\n    *)\n      _slipway_tool\n      return\n"
       << "      ;;\n  esac\n  case \"$call\" in\n";
  for (const Call& each : all_calls())
    text << "    '" << each.words << "') options='" << option_names(*each.command) << "' ;;\n";
  text << "  esac\n  case \"$call $before\" in\n";
  for (const Call& each : all_calls())
    for (const CommandOption& option : each.command->own_options) text << value_case(option, each.words + " ");
  text << "  esac\n  if [[ $before == -* && \" $options \" == *\" $before \"* ]]; then\n    case \"$before\" in\n";
  for (const CommandOption& option : all_options()) text << value_case(option, "");
  text << "    esac\n  fi\n  if [[ $word == -* ]]; then\n    _slipway_words \"$options\"\n    return\n  fi\n"
       << "  case \"$call\" in\n";
  for (const Call& each : all_calls()) text << "    '" << each.words << "') " << word_line(*each.command) << " ;;\n";
  text << "  esac\n}\n\ncomplete -F _slipway slipway\n";
  return text.str();
}

}  // namespace slipway::cli
