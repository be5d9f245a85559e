// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/reference.hpp"

namespace slipway::core {
namespace {

/// What completes an option's value.
std::string value_line(const CommandOption& option) {
  switch (value_kind(option)) {
    case ValueKind::words:
      return "_slipway_words '" + words_of(option) + "'";
    case ValueKind::components:
      return "_slipway_list \"$(_slipway_names components)\"";
    case ValueKind::folder:
      return "_slipway_paths -d";
    case ValueKind::profile:
      return R"X(_slipway_words "$(cd /usr/share/slipway/sim 2>/dev/null && printf '%s\n' *.yaml | sed 's/\.yaml$//')")X";
    case ValueKind::kernel:
      return R"X(_slipway_words "$(ls /lib/modules 2>/dev/null)")X";
    default:
      return "_slipway_paths -f";
  }
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
_slipway_names() { "${COMP_WORDS[0]/#\~/$HOME}" completion "$@" 2>/dev/null; }
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

_slipway() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
)X";
  const std::string names = joined(command_names(), " ", [](const auto& command) { return command.first; });
  text << "  if ((COMP_CWORD == 1)); then\n    _slipway_words \"" << names
       << " $(_slipway_names tools)\"\n    return\n  fi\n";
  text << "  case \" " << names << R"X( " in
    *" ${COMP_WORDS[1]} "*) ;;
    *)
      if [[ $word == -* ]]; then
        _slipway_words "$(_slipway_names options "${COMP_WORDS[1]}" "${COMP_WORDS[2]}")"
      elif ((COMP_CWORD == 2)); then
        _slipway_words "$(_slipway_names tools "${COMP_WORDS[1]}")"
      else
        _slipway_paths -f
      fi
      return
      ;;
  esac
)X";
  text << "  case \"$before\" in\n";
  std::string options;
  for (const CommandOption& option : all_options()) {
    options += (options.empty() ? "" : " ") + long_name(option) + (option.letter == 0 ? "" : " " + short_name(option));
    if (value_kind(option) == ValueKind::none) continue;
    text << "    " << (option.letter == 0 ? "" : short_name(option) + " | ") << long_name(option) << ")\n      "
         << value_line(option) << "\n      return\n      ;;\n";
  }
  text << "  esac\n  if [[ $word == -* ]]; then\n    _slipway_words '" << options << "'\n    return\n  fi\n";
  text << "  if ((COMP_CWORD == 2)); then\n    case \"${COMP_WORDS[1]}\" in\n";
  for (const Command& command : commands())
    if (!command.words.empty())
      text << "      " << command.name << ")\n        _slipway_words '" << joined(command.words, " ")
           << "'\n        return\n        ;;\n";
  text << "    esac\n  fi\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const Command& command : commands())
    if (const std::string kind = names_behind(command); !kind.empty())
      text << "    " << command.name << ")\n      _slipway_words \"$(_slipway_names " << kind
           << ")\"\n      return\n      ;;\n";
  text << "  esac\n  _slipway_paths -f\n}\n\ncomplete -F _slipway slipway\n";
  return text.str();
}

}  // namespace slipway::core
