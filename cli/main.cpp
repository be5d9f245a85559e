// SPDX-License-Identifier: Apache-2.0
// cli/main.cpp - slipway: runs the command, prints its error, and exits with its code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <slipway/text.hpp>

#include "base/command_line/read_words.hpp"
#include "base/write/standard_output.hpp"
#include "cli/command.hpp"
#include "cli/front/option_table.hpp"
#include "cli/reference/component_tools.hpp"
#include "cli/render/text.hpp"
#include "core/worker/serve/serve.hpp"

#ifndef SLIPWAY_VERSION
#error "the build names the version"
#endif

namespace slipway::cli {
namespace {

constexpr const char* kLogFormat = "log-format";

std::string help_line(const std::string& usage, const std::string& purpose) {
  return padded("  " + usage + "  ", 44) + purpose + "\n";
}

std::string help() {
  std::string text = "slipway " SLIPWAY_VERSION
                     ": provisions a host with NVIDIA GPUs, and keeps it so.\n\nUsage: slipway COMMAND [options]\n\n";
  for (const Command& command : commands()) {
    text += help_line(command.usage, command.purpose);
  }
  text += help_line("NAME TOOL …", "a component's own tool, for example `driver build`");
  text += help_line("TOOL …", "one that is a command of its own, for example `top`");
  text += help_line("PLUGIN NAME TOOL …", "the same: `toolkit cdi generate` is `cdi generate`");
  return text + "\nOptions that several commands take (`slipway COMMAND --help` lists all of one):\n" +
         options_text(all_options());
}

/// Returns the text of `slipway plugin --help`.
std::string verbs_help(const Command& command) {
  std::string text = "Usage: slipway " + command.usage + "\n\n" + command.purpose + "\n\n";
  for (const Command& verb : command.verbs)
    if (!verb.purpose.empty()) text += help_line(verb.usage, verb.purpose);
  return text + "\n`slipway " + command.name + " VERB --help` shows the options of one.\n";
}

std::vector<std::string> shown_names(const std::vector<Command>& known) {
  std::vector<std::string> names;
  for (const Command& command : known)
    if (!command.purpose.empty()) names.push_back(command.name);
  return names;
}

/// Names of plugins and of components with tools also count as commands.
Error unknown_command(const std::string& name, const Result<core::Plugins>& plugins) {
  std::vector<std::string> known = shown_names(commands());
  for (const std::string& each : plugins ? tool_names(*plugins) : std::vector<std::string>()) known.push_back(each);
  const std::string near = nearest_word(name, known);
  return Error{ErrorCode::usage,
               "there is no command '" + name + "'",
               "command line",
               near.empty() ? "`slipway --help` lists the commands" : "did you mean `slipway " + near + "`?",
               {}};
}

/// Writes the last line for a program that asked for JSON, even when the command ended early.
Error print_json_error(Error error, const std::vector<std::string>& words) {
  const std::string output = output_of(words);
  if (output != "text") print(json_text(envelope("Error", to_json(error)), output));
  return error;
}

Result<int> run_tool_for_programs(const core::Manifest& manifest, const std::vector<std::string>& words) {
  auto result = run_tool(manifest, words);
  if (result || !core::asks_for_json(words)) return result;
  return print_json_error(std::move(result).error(), {"-o", "json"});
}

/// Runs `slipway PLUGIN COMPONENT …` as `slipway COMPONENT …`.
Result<int> run_plugin_tool(const core::PluginFile& plugin, const std::string& name,
                            const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const core::Manifest& manifest : plugin.components) {
    if (!words.empty() && words.front() == manifest.component)
      return run_tool_for_programs(manifest, {words.begin() + 1, words.end()});
    if (manifest.has_tools) known.push_back(manifest.component);
  }
  const std::string otherwise =
      known.empty() ? name + " has no tools" : "its components with tools are " + listed(known, "and");
  return Error{
      ErrorCode::usage,
      words.empty() ? "which component of " + name + "?"
                    : "the plugin " + name + " has no component '" + words.front() + "'",
      "command line",
      words.empty() || nearest_word(words.front(), known).empty() ? otherwise : suggestion(words.front(), known, ""),
      {}};
}

Error no_such_verb(const Command& command, const std::vector<std::string>& words) {
  const std::vector<std::string> verbs = shown_names(command.verbs);
  const std::string call = "slipway " + command.name;
  if (words.empty())
    return Error{ErrorCode::usage,
                 "`" + call + "` needs a verb: " + listed(verbs, "or"),
                 "command line",
                 "`" + call + " --help` says what each does",
                 {}};
  const std::string near = nearest_word(words.front(), verbs);
  return Error{ErrorCode::usage,
               "`" + call + "` has no verb '" + words.front() + "'",
               "command line",
               near.empty() ? "its verbs are " + listed(verbs, "and") + ", and one of them comes first"
                            : "did you mean `" + call + " " + near + "`?",
               {}};
}

Result<int> run_command(const Command& command, const std::vector<std::string>& words) {
  if (!command.verbs.empty()) {
    if (!words.empty() && command_line::asks_for_help({words.front()}))
      return print(verbs_help(command)), core::kExitDone;
    const Command* const verb = words.empty() ? nullptr : find_command(command.verbs, words.front());
    if (verb == nullptr) return no_such_verb(command, words);
    return run_command(*verb, {words.begin() + 1, words.end()});
  }
  SLIPWAY_TRY(options, read_options(command, words));
  if (options.help) {
    print(help_text(line_of(command)));
    return core::kExitDone;
  }
  if (std::ranges::count(command.options, kLogFormat) != 0) {
    SLIPWAY_TRY(log, base::read_log_settings(options.log_format, options.verbose, std::getenv("SLIPWAY_LOG")));
    options.log = log;
  }
  TerminalUi ui(options.log, options.output == "jsonl");
  auto result = command.run(options, ui);
  if (result) return result;
  core::SessionOptions acted_on = options.session;
  acted_on.spec = options.spec;
  return core::advised(std::move(result).error(), acted_on);
}

Result<int> run(const std::string& name, const std::vector<std::string>& words) {
  if (const Command* command = find_command(commands(), name)) {
    auto result = run_command(*command, words);
    return result ? result : print_json_error(std::move(result).error(), words);
  }
  const auto plugins = core::discover_plugins(core::plugin_folders(true));
  if (plugins)
    if (const core::Manifest* manifest = plugins->manifest(name)) return run_tool_for_programs(*manifest, words);
  if (plugins)
    if (const core::PluginFile* plugin = plugin_of_name(*plugins, name)) return run_plugin_tool(*plugin, name, words);
  if (plugins) {
    std::vector<std::string> whole{name};
    whole.insert(whole.end(), words.begin(), words.end());
    whole = with_component(*plugins, std::move(whole));
    if (const core::Manifest* manifest = whole.front() == name ? nullptr : plugins->manifest(whole.front()))
      return run_tool_for_programs(*manifest, {whole.begin() + 1, whole.end()});
  }
  return print_json_error(unknown_command(name, plugins), words);
}

}  // namespace

Result<int> run_version(const Options& options, TerminalUi&) {
  print(options.output == "text" ? "slipway " SLIPWAY_VERSION "\n"
                                 : json_text(envelope("Version", {{"version", SLIPWAY_VERSION}}), options.output));
  return core::kExitDone;
}

/// Handles `help plan` like `plan --help`, and `help driver build` like `driver build --help`.
Result<int> run_help(const Options& options, TerminalUi&) {
  const std::vector<std::string>& words = options.arguments;
  if (words.empty()) return print(help()), core::kExitDone;
  const Command* const command = find_command(commands(), words.front());
  const std::size_t most = command == nullptr ? words.size() : command->verbs.empty() ? 1 : 2;
  if (words.size() > most)
    return Error{ErrorCode::usage,
                 "`slipway " +
                     joined(std::vector(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(most)), " ") +
                     "` has no help on '" + words[most] + "'",
                 "command line",
                 "`slipway help " + words.front() + "` says what it takes",
                 {}};
  std::vector<std::string> asked(words.begin() + 1, words.end());
  asked.emplace_back("--help");
  return run(words.front(), asked);
}

namespace {

/// Logs the error that the command ended with, as the last line.
void report(const Error& error, const std::vector<std::string>& words) {
  TerminalUi({base::log_format_of(words), base::LogLevel::error}, false).failed({}, error, to_text(error));
}

/// Runs the command line, and returns its exit status.
int answer(const std::vector<std::string>& words) {
  if (words.empty()) {
    print(help());
    return core::kExitUsage;
  }
  const bool is_help = words[0] == "--help" || words[0] == "-h";
  const std::string name = is_help ? "help" : words[0] == "--version" ? "version" : words[0];
  const auto result = run(name, {words.begin() + 1, words.end()});
  if (result) return *result;
  report(result.error(), words);
  return core::exit_code(result.error());
}

/// Returns an error status when the output could not be written.
int with_output_checked(int status, const std::vector<std::string>& words) {
  const Status written = base::standard_output_status();
  if (written) return status;
  report(written.error(), words);
  return status == core::kExitUsage ? core::kExitUsage : core::kExitError;
}

}  // namespace

}  // namespace slipway::cli

int main(int count, char** values) {
  using namespace slipway;
  base::begin_program();
  const std::vector<std::string> words{values + (count > 0 ? 1 : 0), values + count};
  try {
    return cli::with_output_checked(cli::answer(words), words);
  } catch (const std::exception& problem) {
    cli::report({ErrorCode::internal,
                 std::string("bug in slipway: ") + problem.what(),
                 {},
                 "please report this error with the command that you ran",
                 {}},
                words);
    return core::kExitError;
  }
}
