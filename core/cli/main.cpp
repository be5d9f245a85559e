// SPDX-License-Identifier: Apache-2.0
// core/cli/main.cpp - slipway: finds the command, prints its error, exits with its code.
#include <algorithm>
#include <cstdio>
#include <exception>

#include <unistd.h>

#include "core/cli/command.hpp"
#include "core/cli/wrap.hpp"

#ifndef SLIPWAY_VERSION
#error "the build names the version"
#endif

namespace slipway::core {
namespace {

std::string help() {
  std::string text = "slipway " SLIPWAY_VERSION
                     ": provisions a host with NVIDIA GPUs, and keeps it so.\n\nUsage: slipway COMMAND [options]\n\n";
  for (const Command& command : commands()) {
    std::string line = "  " + command.usage;
    line.resize(std::max<std::size_t>(line.size() + 2, 44), ' ');
    text += line + command.purpose + "\n";
  }
  return text + "  NAME TOOL …                               a component's own tool, for example `driver build`\n" +
         "  PLUGIN NAME TOOL …                        the same, for example `toolkit cdi generate`\n" +
         "  version                                   prints the version\n\n" + options_help();
}

const Command* find_command(const std::string& name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

Error unknown_command(const std::string& name) {
  std::vector<std::string> known{"version"};
  for (const Command& command : commands()) known.push_back(command.name);
  const std::string near = nearest(name, known);
  return Error{ErrorCode::invalid,
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

/// `slipway PLUGIN COMPONENT TOOL …`
Result<int> run_plugin_tool(const PluginFile& plugin, const std::string& name, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const Manifest& manifest : plugin.components)
    if (manifest.has_tools || !manifest.tool_programs.empty()) {
      known.push_back(manifest.component);
      if (!words.empty() && words.front() == manifest.component)
        return run_tool(manifest, {words.begin() + 1, words.end()});
    }
  return Error{ErrorCode::invalid,
               words.empty() ? "which component of " + name + "?"
                             : "the plugin " + name + " has no component '" + words.front() + "' with tools",
               "command line",
               known.empty() ? name + " has no tools" : "its components with tools are " + joined(known, "and"),
               {}};
}

Result<int> run_command(const Command& command, const std::vector<std::string>& words) {
  SLIPWAY_TRY(options, read_options(words, false));
  options.command = command.name;
  if (options.help) {
    print("Usage: slipway " + command.usage + "\n  " + command.purpose + "\n\n" + options_help());
    return kExitDone;
  }
  TerminalUi ui(options.verbosity, options.output == "jsonl");
  auto result = command.run(options, ui);
  if (!result && options.output != "text") {
    print(json_text(envelope("Error", to_json(result.error())), options.output));
  }
  return result;
}

Result<int> run(const std::string& name, const std::vector<std::string>& words) {
  if (const Command* command = find_command(name)) return run_command(*command, words);
  const auto plugins = discover_plugins(plugin_folders(true));
  if (plugins)
    if (const Manifest* manifest = plugins->manifest(name)) return run_tool(*manifest, words);
  if (plugins)
    if (const PluginFile* plugin = find_plugin(*plugins, name)) return run_plugin_tool(*plugin, name, words);
  return unknown_command(name);
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"init", "init > host.yaml", "writes a first host.yaml from what it detects", run_init},
      {"explain", "explain [COMPONENT[.KEY]]", "a component's spec keys", run_explain},
      {"detect", "detect [-f SPEC]", "what is there now", run_detect},
      {"plan", "plan [-f SPEC]", "what would change; exit 2 when something would", run_plan},
      {"apply", "apply [-f SPEC | PLAN]", "makes it so", run_apply},
      {"verify", "verify [--deep]", "is it really working; exit 1 when not", run_verify},
      {"doctor", "doctor [COMPONENT…]", "what is wrong and what helps; exit 1 when something is", run_doctor},
      {"status", "status", "what slipway holds here", run_status},
      {"rollback", "rollback [GENERATION]", "applies an earlier generation anew", run_rollback},
      {"remove", "remove COMPONENT… | --all", "takes components away and brings back what was there", run_remove},
      {"graph", "graph [-f SPEC]", "the components' order, as Graphviz", run_graph},
      {"gc", "gc [--dry-run]", "drops old generations and layers that nobody needs", run_gc},
      {"log", "log [COUNT]", "what was done on this machine, the newest last", run_log},
      {"bugreport", "bugreport [--to FILE]", "one tar file about this host, without secrets", run_bugreport},
      {"service", "service NAME [-f SPEC]", "runs a component's service until SIGTERM; SIGHUP reads the spec again",
       run_service},
      {"plugin",
       "plugin list | info FILE | new NAME | check FILE",
       "the plugins; writing one, and trying it out",
       run_plugin,
       {"list", "info", "new", "check"}},
      {"pkg",
       "pkg build|push|pull|inspect …",
       "packages as OCI artifacts",
       run_pkg,
       {"build", "push", "pull", "inspect"}},
      {"completion",
       "completion bash | zsh | fish | man",
       "a shell's completion script, or the manual page",
       run_completion,
       {"bash", "zsh", "fish", "man"}},
  };
  return table;
}

}  // namespace slipway::core

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  if (!words.empty() && (words[0] == "version" || words[0] == "--version")) {
    std::puts("slipway " SLIPWAY_VERSION);
    return 0;
  }
  using namespace slipway;
  try {
    if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
      core::print(core::help());
      return words.empty() ? core::kExitUsage : core::kExitDone;
    }
    const auto result = core::run(words[0], {words.begin() + 1, words.end()});
    if (result) return *result;
    std::fputs(core::wrapped(to_text(result.error()), core::columns_of(STDERR_FILENO)).c_str(), stderr);
    return core::exit_code(result.error());
  } catch (const std::exception& problem) {
    std::fputs(to_text(Error{ErrorCode::internal,
                             std::string("bug in slipway: ") + problem.what(),
                             {},
                             "please report it with the command that you ran",
                             {}})
                   .c_str(),
               stderr);
    return core::kExitError;
  }
}
