// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/reference/reference.hpp"

namespace slipway::cli {
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
      return " -x -a '(__slipway_names profiles)'";
    case ValueKind::kernel:
      return " -x -a '(command ls /lib/modules)'";
    case ValueKind::file:
      return " -r -F";
  }
  return "";
}

/// Returns one option of these command lines.
std::string option_line(const CommandOption& option, const std::vector<std::string>& calls) {
  const auto quoted = [](const std::string& call) { return "\"" + call + "\""; };
  return "complete -c slipway -n '__slipway_call " + joined(calls, " ", quoted) + "'" +
         (option.letter == 0 ? "" : std::string(" -s ") + option.letter) + " -l " + option.name + value_words(option) +
         " -d " + fish_quoted(option.help) + "\n";
}

bool has_shared_option(const Command& command, const std::string& name) {
  return name == "verbose" || name == "help" ||
         (std::ranges::count(command.options, name) != 0 &&
          std::ranges::find(command.own_options, name, &CommandOption::name) == command.own_options.end());
}

std::string option_lines() {
  std::string text;
  for (const CommandOption& option : all_options()) {
    std::vector<std::string> calls;
    for (const Call& each : all_calls())
      if (has_shared_option(*each.command, option.name)) calls.push_back(each.words);
    text += option_line(option, calls);
  }
  for (const Call& each : all_calls())
    for (const CommandOption& option : each.command->own_options) text += option_line(option, {each.words});
  return text;
}

/// Returns the lines that complete words that are not options.
std::string word_lines() {
  std::string text;
  for (const Command& command : commands()) {
    const std::string seen = "complete -c slipway -n '__fish_seen_subcommand_from " + command.name;
    const WordKind kind = word_kind(command);
    if (!command.verbs.empty())
      text += seen + "; and not __fish_seen_subcommand_from " + verbs_of(command) + "' -f -a " +
              fish_quoted(verbs_of(command)) + "\n";
    else if (kind == WordKind::components || kind == WordKind::services)
      text += seen + "' -f -a '(__slipway_names " + (kind == WordKind::services ? "services" : "components") + ")'\n";
    else if (kind == WordKind::generations)
      text += seen + "' -f -a '(__slipway_names generations -- (commandline -opc)[2..-1])'\n";
    else if (kind == WordKind::commands)
      text += seen + "' -f -a " + fish_quoted(command_names()) + "\n";
    else if (kind == WordKind::none)
      text += seen + "' -f\n";
  }
  return text;
}

}  // namespace

std::string fish_completion() {
  std::ostringstream text;
  text << R"X(# fish completion for slipway, made by `slipway completion fish`

function __slipway_names
    set -l words (commandline -opc)
    $words[1] completion names $argv 2>/dev/null
end

# Whether the command line is that of one of these: plan, "plugin new"
function __slipway_call
    set -l words (commandline -opc)
    set -l call "$words[2]"
)X";
  text << "    contains -- \"$call\" " << joined(commands_with_verbs(), " ") << R"X(; and set call "$call $words[3]"
    contains -- "$call" $argv
end

# Of a component's tool: the choices of the option in front, the names of tools, and options.
function __slipway_tool
    set -l words (commandline -opc)
    string match -q -- '-*' $words[-1]; and __slipway_names values -- $words[2..-1]
    __slipway_names tools -- $words[2..-1]
    __slipway_names options -- $words[2..-1]
end

complete -c slipway -n __fish_use_subcommand -f
complete -c slipway -n __fish_use_subcommand -a '(__slipway_names tools)'
)X";
  for (const Command& command : commands())
    text << "complete -c slipway -n __fish_use_subcommand -a " << command.name << " -d " << fish_quoted(command.purpose)
         << '\n';
  text << "complete -c slipway -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from " << command_names()
       << "' -a '(__slipway_tool)'\n"
       << word_lines() << option_lines();
  return text.str();
}

}  // namespace slipway::cli
