// SPDX-License-Identifier: Apache-2.0
#include "cli/reference/component_tools.hpp"

#include <filesystem>
#include <set>

#include <unistd.h>

#include "base/command_line/tools.hpp"

namespace slipway::cli {
namespace {

/// The options that a help text lists. A tool that is a separate program has none of slipway's options.
std::vector<CommandOption> shown_options(const ToolInfo& tool, const core::Manifest& component) {
  std::vector<CommandOption> options = tool.line.options;
  std::erase_if(options, [](const CommandOption& option) { return option.help.empty(); });
  const std::vector<CommandOption>& own = command_line::options_for_tools();
  if (!component.tool_programs.contains(tool.name)) options.insert(options.end(), own.begin(), own.end());
  return options;
}

/// True for a tool with a command of its own, "slipway-top" for "top".
bool is_own_command(const std::string& tool, const std::string& program) { return program == "slipway-" + tool; }

}  // namespace

bool has_tools(const core::Manifest& component) { return component.has_tools || !component.tool_programs.empty(); }

const core::PluginFile* plugin_of_name(const core::Plugins& plugins, const std::string& name) {
  for (const auto& [path, file] : plugins.files)
    if (path.ends_with("/" + name + ".so")) return &file;
  return nullptr;
}

std::vector<std::string> with_component(const core::Plugins& plugins, std::vector<std::string> words) {
  if (words.empty() || plugins.manifest(words.front()) != nullptr || plugin_of_name(plugins, words.front()) != nullptr)
    return words;
  for (const auto& [path, file] : plugins.files)
    for (const core::Manifest& component : file.components)
      if (const auto tool = component.tool_programs.find(words.front());
          tool != component.tool_programs.end() && is_own_command(tool->first, tool->second)) {
        words.insert(words.begin(), component.component);
        return words;
      }
  return words;
}

std::vector<std::string> tool_names(const core::Plugins& plugins) {
  std::set<std::string> names;
  for (const auto& [path, file] : plugins.files)
    for (const core::Manifest& component : file.components) {
      if (!has_tools(component)) continue;
      names.insert(component.component);
      for (const auto& [tool, program] : component.tool_programs)
        if (is_own_command(tool, program)) names.insert(tool);
      const std::string plugin = std::filesystem::path(path).stem();
      if (plugins.manifest(plugin) == nullptr) names.insert(plugin);
    }
  return {names.begin(), names.end()};
}

std::vector<ComponentTool> component_tools(const std::string& component, core::Ui& ui) {
  std::vector<ComponentTool> tools;
  core::SessionOptions options;
  options.own_environment = ::geteuid() == 0;  // a shell runs this at each TAB: as root, no variable may choose plugins
  const auto session = core::Session::open(options, ui);
  if (!session) return tools;
  for (const auto& [name, path] : (*session)->plugins().component_to_path) {
    if (!(*session)->plugins().manifest(name)->has_tools || (!component.empty() && name != component)) continue;
    const auto reply = (*session)->call(name, "tools", Json::object(), core::kDetectLimit);
    const auto known = reply ? command_line::tools_from_json(name, *reply) : std::vector<ToolInfo>();
    if (!known) continue;
    for (const ToolInfo& tool : *known)
      tools.push_back({name, tool.name, tool.purpose, shown_options(tool, *(*session)->plugins().manifest(name))});
  }
  return tools;
}

}  // namespace slipway::cli
