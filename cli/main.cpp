// SPDX-License-Identifier: Apache-2.0
// cli/main.cpp - slipway: finds the command, prints its error, exits with its code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <slipway/text.hpp>
#include <slipway/write/standard_output.hpp>

#include "cli/command.hpp"
#include "cli/front/option_table.hpp"
#include "cli/render/text.hpp"
#include "core/engine/verify/advice.hpp"
#include "core/worker/serve/serve.hpp"

#ifndef SLIPWAY_VERSION
#error "the build names the version"
#endif

namespace slipway::core {
namespace {

constexpr const char* kLogFormat = "log-format";

std::string help() {
  std::string text = "slipway " SLIPWAY_VERSION
                     ": provisions a host with NVIDIA GPUs, and keeps it so.\n\nUsage: slipway COMMAND [options]\n\n";
  for (const Command& command : commands()) {
    std::string line = "  " + command.usage;
    line.resize(std::max<std::size_t>(line.size() + 2, 44), ' ');
    text += line + command.purpose + "\n";
  }
  return text + "  NAME TOOL …                               a component's own tool, for example `driver build`\n" +
         "  PLUGIN NAME TOOL …                        the same: `toolkit cdi generate` is `cdi generate`\n" +
         "  version                                   prints the version\n\nOptions:\n" + options_text(all_options());
}

const Command* find_command(const std::string& name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

Error unknown_command(const std::string& name) {
  std::vector<std::string> known{"version"};
  for (const Command& command : commands()) known.push_back(command.name);
  const std::string near = nearest_word(name, known);
  return Error{ErrorCode::usage,
               "there is no command '" + name + "'",
               "command line",
               near.empty() ? "`slipway --help` lists the commands" : "did you mean `slipway " + near + "`?",
               {}};
}

/// The plugin file of that name, "…/toolkit.so" for "toolkit"; null: there is none.
const PluginFile* find_plugin(const Plugins& plugins, const std::string& name) {
  for (const auto& [path, file] : plugins.files)
    if (path.ends_with("/" + name + ".so")) return &file;
  return nullptr;
}

/// The last line for a program that asked for JSON, however early the command ended.
Error told_to_programs(Error error, const std::vector<std::string>& words) {
  const std::string output = output_of(words);
  if (output != "text") print(json_text(envelope("Error", to_json(error)), output));
  return error;
}

Result<int> run_tool_for_programs(const Manifest& manifest, const std::vector<std::string>& words) {
  auto result = run_tool(manifest, words);
  if (result || !asks_for_json(words)) return result;
  return told_to_programs(std::move(result).error(), {"-o", "json"});
}

/// `slipway PLUGIN COMPONENT …`, which is `slipway COMPONENT …`.
Result<int> run_plugin_tool(const PluginFile& plugin, const std::string& name, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const Manifest& manifest : plugin.components) {
    if (!words.empty() && words.front() == manifest.component)
      return run_tool_for_programs(manifest, {words.begin() + 1, words.end()});
    if (manifest.has_tools) known.push_back(manifest.component);
  }
  return Error{ErrorCode::usage,
               words.empty() ? "which component of " + name + "?"
                             : "the plugin " + name + " has no component '" + words.front() + "'",
               "command line",
               known.empty() ? name + " has no tools" : "its components with tools are " + listed(known, "and"),
               {}};
}

Result<int> run_command(const Command& command, const std::vector<std::string>& words) {
  SLIPWAY_TRY(options, read_options(command, words));
  if (options.help) {
    print(help_text(line_of(command)));
    return kExitDone;
  }
  if (std::ranges::count(command.options, kLogFormat) != 0) {
    SLIPWAY_TRY(log, read_log_settings(options.log_format, options.verbose, std::getenv("SLIPWAY_LOG")));
    options.log = log;
  }
  TerminalUi ui(options.log, options.output == "jsonl");
  auto result = command.run(options, ui);
  if (result) return result;
  SessionOptions acted_on = options.session;
  acted_on.spec = options.spec;
  return advised(std::move(result).error(), acted_on);
}

void print_version(const std::string& output) {
  print(output == "text" ? "slipway " SLIPWAY_VERSION "\n"
                         : json_text(envelope("Version", {{"version", SLIPWAY_VERSION}}), output));
}

Result<int> run(const std::string& name, const std::vector<std::string>& words) {
  if (const Command* command = find_command(name)) {
    auto result = run_command(*command, words);
    return result ? result : told_to_programs(std::move(result).error(), words);
  }
  const auto plugins = discover_plugins(plugin_folders(true));
  if (plugins)
    if (const Manifest* manifest = plugins->manifest(name)) return run_tool_for_programs(*manifest, words);
  if (plugins)
    if (const PluginFile* plugin = find_plugin(*plugins, name)) return run_plugin_tool(*plugin, name, words);
  return told_to_programs(unknown_command(name), words);
}

/// The last that is logged: what the command failed with.
void report(const Error& error, const std::vector<std::string>& words) {
  TerminalUi({log_format_of(words), LogLevel::error}, false).failed({}, error, to_text(error));
}

/// What the command line asks for, and its exit status.
int answer(const std::vector<std::string>& words) {
  if (!words.empty() && (words[0] == "version" || words[0] == "--version")) {
    print_version(output_of(words));
    return kExitDone;
  }
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print(help());
    return words.empty() ? kExitUsage : kExitDone;
  }
  const auto result = run(words[0], {words.begin() + 1, words.end()});
  if (result) return *result;
  report(result.error(), words);
  return exit_code(result.error());
}

/// Results that nobody got are no success.
int with_output_checked(int status, const std::vector<std::string>& words) {
  const Status written = standard_output_status();
  if (written) return status;
  report(written.error(), words);
  return status == kExitUsage ? kExitUsage : kExitError;
}

}  // namespace

}  // namespace slipway::core

int main(int count, char** values) {
  using namespace slipway;
  begin_program();
  const std::vector<std::string> words{values + (count > 0 ? 1 : 0), values + count};
  try {
    return core::with_output_checked(core::answer(words), words);
  } catch (const std::exception& problem) {
    core::report({ErrorCode::internal,
                  std::string("bug in slipway: ") + problem.what(),
                  {},
                  "please report it with the command that you ran",
                  {}},
                 words);
    return core::kExitError;
  }
}
