// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <unistd.h>

#include <slipway/text.hpp>

#include "base/log/lines.hpp"
#include "cli/command.hpp"
#include "cli/front/handover.hpp"
#include "core/engine/advice.hpp"
#include "core/worker/client/spawn.hpp"

namespace slipway::core {

namespace {

/// Removes "--NAME VALUE" and "--NAME=VALUE" from the words. @return the last value; empty: not given
Result<std::string> take_option(const std::string& name, std::vector<std::string>& words) {
  std::string value;
  for (std::size_t i = 0; i < words.size();) {
    if (words[i].starts_with(name + "=")) {
      value = words[i].substr(name.size() + 1);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (words[i] == name) {
      if (i + 1 == words.size())
        return Error{ErrorCode::usage, name + " needs a value", "command line", "`slipway --help`", {}};
      value = words[i + 1];
      const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
      words.erase(at, at + 2);
    } else {
      ++i;
    }
  }
  return value;
}

/// Rewrites a descriptor that a shell has opened for the command (`-f <(…)`) to a name that the worker can open as
/// well.
void name_own_descriptors(std::vector<std::string>& words) {
  constexpr std::string_view kOwn = "/dev/fd/";
  for (std::string& word : words) {
    const std::size_t value = word.starts_with("--") && word.find('=') != std::string::npos ? word.find('=') + 1 : 0;
    if (std::string_view(word).substr(value).starts_with(kOwn))
      word.replace(value, kOwn.size(), "/proc/" + std::to_string(::getpid()) + "/fd/");
  }
}

/// Executes the program that is this tool.
Error become_tool(const std::string& name, std::vector<std::string> words) {
  const auto program = own_program(name);
  if (!program) return program.error();
  words.front() = name;
  return become(*program, words);
}

/// For a component whose plugin has no tools: names the tools that are separate programs, or what else it has.
std::string text_without_tools(const Manifest& component) {
  const std::string& name = component.component;
  std::string text = name + ": " + component.purpose + "\n\n";
  for (const auto& [tool, program] : component.tool_programs) text += "  slipway " + name + " " + tool + " --help\n";
  if (!component.tool_programs.empty()) return text;
  text += "It has no tools. The commands about it:\n\n  slipway explain " + name + "   the keys of its section\n" +
          "  slipway verify " + name + "    whether it works\n  slipway doctor " + name +
          "    what is wrong and what helps\n";
  if (component.service != Manifest::ServiceIn::none) text += "  slipway service " + name + "   runs its service\n";
  return text;
}

Result<int> without_tools(const Manifest& component, const std::vector<std::string>& words) {
  if (words.empty() || asks_for_help(words)) {
    print(text_without_tools(component));
    return words.empty() ? kExitUsage : kExitDone;
  }
  std::vector<std::string> tools;
  for (const auto& [tool, program] : component.tool_programs) tools.push_back(tool);
  return Error{ErrorCode::usage,
               component.component + " has no tool '" + words.front() + "'",
               "command line",
               suggestion(words.front(), tools, "`slipway " + component.component + " --help` says what there is"),
               {}};
}

}  // namespace

Result<int> run_tool(const Manifest& manifest, const std::vector<std::string>& words) {
  if (!words.empty())  // such a program handles all options itself, and writes no log of slipway
    if (const auto program = manifest.tool_programs.find(words.front()); program != manifest.tool_programs.end())
      return become_tool(program->second, words);
  std::vector<std::string> rest = words;
  const bool verbose =
      std::erase_if(rest, [](const std::string& word) { return word == "-v" || word == "--verbose"; }) > 0;
  SLIPWAY_TRY(log_format, take_option("--log-format", rest));
  SLIPWAY_TRY(log, read_log_settings(log_format, verbose, std::getenv("SLIPWAY_LOG")));
  if (!manifest.has_tools) return without_tools(manifest, rest);
  TerminalUi ui(log, false);
  SessionOptions options;
  SLIPWAY_TRY(sim, take_option("--sim", rest));
  options.sim = sim;
  if (!options.sim.empty()) {  // then --root is the folder of the simulated machine, not an option of the tool
    SLIPWAY_TRY(root, take_option("--root", rest));
    if (!root.empty()) options.root = root;
  }
  SLIPWAY_TRY(session, Session::open(options, ui));
  session->hands_input_on = true;
  session->tool_output = [](const std::string& text) { print(printable(text, true)); };
  const bool named = !rest.empty();
  const std::string tool = named ? rest.front() : "--help";
  if (named) rest.erase(rest.begin());
  name_own_descriptors(rest);
  HostConfig host = session->host_config();
  if (options.sim.empty()) host.live = host_of_tools().live;
  const Json request{{"tool", tool}, {"arguments", rest}, {"spec", Json::object()}, {"host", to_json(host)}};
  auto reply = session->call(manifest.component, "tool", request, kTransferLimit);
  if (!reply) return advised(std::move(reply).error(), options);
  return named ? reply->value("exit", kExitError) : kExitUsage;
}

}  // namespace slipway::core
