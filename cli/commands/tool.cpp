// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include <unistd.h>

#include <slipway/text.hpp>

#include "base/command_line/read_words.hpp"
#include "base/command_line/tools.hpp"
#include "base/log/lines.hpp"
#include "cli/command.hpp"
#include "cli/front/handover.hpp"
#include "core/worker/client/spawn.hpp"

namespace slipway::cli {

namespace {

/// Rewrites a descriptor that a shell has opened for the command (`-f <(…)`) to a name that the worker can open as
/// well.
void name_own_descriptor(std::string& word) {
  constexpr std::string_view kOwn = "/dev/fd/";
  if (word.starts_with(kOwn)) word.replace(0, kOwn.size(), "/proc/" + std::to_string(::getpid()) + "/fd/");
}

void name_own_descriptors(CommandWords& words) {
  for (auto& [option, values] : words.values)
    for (std::string& value : values) name_own_descriptor(value);
  for (std::string& word : words.arguments) name_own_descriptor(word);
}

/// Executes the program that is this tool.
Error become_tool(const std::string& name, std::vector<std::string> words) {
  const auto program = core::own_program(name);
  if (!program) return program.error();
  words.front() = name;
  return become(*program, words);
}

/// For a component whose plugin has no tools: names the tools that are separate programs, or what else it has.
std::string text_without_tools(const core::Manifest& component) {
  const std::string& name = component.component;
  std::string text = name + ": " + component.purpose + "\n\n";
  for (const auto& [tool, program] : component.tool_programs) text += "  slipway " + name + " " + tool + " --help\n";
  if (!component.tool_programs.empty()) return text;
  text += "It has no tools. The commands about it:\n\n  slipway explain " + name + "   the keys of its section\n" +
          "  slipway verify " + name + "    whether it works\n  slipway doctor " + name +
          "    what is wrong and what helps\n";
  if (component.service != core::Manifest::ServiceIn::none)
    text += "  slipway service " + name + "   runs its service\n";
  return text;
}

/// @param words  those that are not options
Result<int> without_tools(const core::Manifest& component, const std::vector<std::string>& words, bool help) {
  if (words.empty() || help) {
    print(text_without_tools(component));
    return help ? core::kExitDone : core::kExitUsage;
  }
  std::vector<std::string> tools;
  for (const auto& [tool, program] : component.tool_programs) tools.push_back(tool);
  return Error{ErrorCode::usage,
               component.component + " has no tool '" + words.front() + "'",
               "command line",
               suggestion(words.front(), tools, "`slipway " + component.component + " --help` lists the tools"),
               {}};
}

/// slipway's own options for a tool. With --sim, --root is the folder of the simulated machine, not an option of the
/// tool.
std::vector<CommandOption> own_options(const ToolInfo* tool, bool simulated) {
  std::vector<CommandOption> own = command_line::options_for_tools();
  const bool has_root = tool != nullptr && std::ranges::count(tool->line.options, "root", &CommandOption::name) != 0;
  if (simulated && !has_root) own.push_back({.name = "root", .value = "DIR"});
  return own;
}

/// Some tools accept an option several times, like the programs that they replace. Refuses this for slipway's own
/// options: the first --sim may be the machine that was meant.
Status check_given_once(const std::string& component, const CommandWords& found) {
  std::vector<std::string> names{"sim", "log-format"};
  if (found.given("sim")) names.emplace_back("root");
  for (const std::string& name : names) {
    const auto values = found.values.find(name);
    if (values == found.values.end() || values->second.size() < 2) continue;
    const std::string call = "slipway " + component + (found.arguments.empty() ? "" : " " + found.arguments.front());
    return CommandTable{.call = call}.wrong("--" + name + " is given more than once");
  }
  return {};
}

/// Returns the words for the tool; the input includes the tool's name.
Result<CommandWords> read_tool(const ToolInfo& tool, std::vector<std::string> words, bool simulated) {
  words.erase(std::ranges::find(words, tool.name));
  const std::vector<CommandOption> own = own_options(&tool, simulated);
  SLIPWAY_TRY(line, command_line::with_options(tool, own));
  SLIPWAY_TRY(read, command_line::read_words(line, words));
  for (const CommandOption& option : own) read.values.erase(option.name);
  if (simulated) read.values.erase("root");
  name_own_descriptors(read);
  return read;
}

/// Answers a tool's request "source.read".
Result<Json> read_source(const core::SessionOptions& of_tool, const std::string& component, const Json& request,
                         TerminalUi& ui) {
  Options options;
  options.command = "plan";  // its rules about a root's own spec, and about variables, hold
  options.session = of_tool;
  options.session.root = request.value("root", of_tool.root);
  if (of_tool.sim.empty() && options.session.root == "/") options.session.live = host_of_tools().live;
  options.spec = request.value("file", "");
  SLIPWAY_TRY(session, open_session(options, ui));
  session->state().go_without_closed();
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  const auto section = loaded.spec.components.find(component);
  if (section == loaded.spec.components.end())
    return Error{ErrorCode::not_found,
                 "the host spec has no component " + component,
                 loaded.spec.file,
                 "name a spec that has it with -f",
                 {}};
  auto sources = core::named_sources(*session->plugins().manifest(component), section->second);
  const std::string key = request.value("key", "");
  std::erase_if(sources, [&](const auto& source) { return source.first != key; });
  const auto reading = core::CatalogueReading::of_tags(request.value("tags", std::vector<std::string>{}));
  SLIPWAY_TRY(catalogues, core::read_catalogues(*session, component, sources, core::Lock{}, reading));
  return Json{{"spec", section->second}, {"catalogues", std::move(catalogues)}};
}

/// Asks the plugin for the tool's table, reads the words by it, and runs the tool.
Result<int> run_in(core::Session& session, const std::string& component, const std::vector<std::string>& words,
                   const CommandWords& found) {
  SLIPWAY_TRY(reply, session.call(component, "tools", Json::object(), core::kDetectLimit));
  SLIPWAY_TRY(tools, command_line::tools_from_json(component, reply));
  if (found.arguments.empty()) {
    const CommandTable line{
        .call = "slipway " + component, .usage = "TOOL [options]", .options = own_options(nullptr, true)};
    SLIPWAY_CHECK(command_line::read_words(line, words));
    print(base::printable(command_line::tools_text(component, tools), true));
    return found.flag("help") ? core::kExitDone : core::kExitUsage;
  }
  SLIPWAY_TRY(tool, command_line::find_tool(component, tools, found.arguments.front()));
  const bool simulated = !found.text("sim").empty();
  SLIPWAY_TRY(read, read_tool(tool, words, simulated));
  if (read.help) {
    print(base::printable(command_line::tool_text(tool), true));
    return core::kExitDone;
  }
  HostConfig host = session.host_config();
  if (!simulated) host.live = host_of_tools().live;
  Json request = command_line::tool_request(tool.name, read);
  request.update({{"spec", Json::object()}, {"host", to_json(host)}});
  SLIPWAY_TRY(ended, session.call(component, "tool", request, core::kTransferLimit));
  return ended.is_object() ? ended.value("exit", int{core::kExitError}) : int{core::kExitError};
}

}  // namespace

Result<int> run_tool(const core::Manifest& manifest, const std::vector<std::string>& words) {
  if (!words.empty())  // such a program handles all options itself, and writes no log of slipway
    if (const auto program = manifest.tool_programs.find(words.front()); program != manifest.tool_programs.end())
      return become_tool(program->second, words);
  // The plugin has the tool's table, so the options that are needed to ask it are read first.
  const CommandWords found = command_line::find_options(own_options(nullptr, true), words);
  SLIPWAY_CHECK(check_given_once(manifest.component, found));
  SLIPWAY_TRY(log,
              base::read_log_settings(found.text("log-format"), found.flag("verbose"), std::getenv("SLIPWAY_LOG")));
  if (!manifest.has_tools) return without_tools(manifest, found.arguments, found.flag("help"));
  TerminalUi ui(log, false);
  core::SessionOptions options;
  // From an unset variable, as in --sim "$PROFILE": the user did not mean the real machine.
  for (const char* name : {"sim", "root"})
    if (found.given(name) && found.text(name).empty())
      return Error{ErrorCode::usage, std::string("--") + name + " is empty", "command line", "leave it out", {}};
  options.sim = found.text("sim");
  if (!options.sim.empty()) options.root = found.text("root", options.root);
  SLIPWAY_TRY(session, core::Session::open(options, ui));
  session->passes_input_on = true;
  session->tool_output = [](const std::string& text) { print(base::printable(text, true)); };
  session->read_source = [&](const std::string& component, const Json& request) {
    return read_source(options, component, request, ui);
  };
  auto ended = run_in(*session, manifest.component, words, found);
  if (!ended) return core::advised(std::move(ended).error(), options);
  return ended;
}

}  // namespace slipway::cli
