// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/reference/component_tools.hpp"

namespace slipway::core {
namespace {

bool is_wanted(const std::string& kind, const Manifest& component) {
  if (kind == "services") return component.service != Manifest::ServiceIn::none;
  return kind == "components" || component.has_tools || !component.tool_programs.empty();
}

// What the completions ask for while somebody types, and no help lists.

/// `completion components`, `services` and `tools`: the components, those with a service, those with tools.
Result<int> print_names(const std::string& kind) {
  SLIPWAY_TRY(plugins, discover_plugins(plugin_folders(true)));
  for (const auto& [name, path] : plugins.component_to_path)
    if (is_wanted(kind, *plugins.manifest(name))) print(name + "\n");
  return kExitDone;
}

/// `completion tools COMPONENT`: the names of its tools. `completion options COMPONENT TOOL`: what a tool takes.
Result<int> print_words(const std::vector<std::string>& words, TerminalUi& ui) {
  for (const ComponentTool& tool : component_tools(words[1], ui)) {
    if (words.size() == 2) print(tool.name + "\n");
    if (words.size() == 2 || tool.name != words[2]) continue;
    for (const CommandOption& option : tool.options) {
      print(long_name(option) + "\n");
      if (option.letter != 0) print(short_name(option) + "\n");
    }
    print("--help\n");
  }
  return kExitDone;
}

}  // namespace

Result<int> run_completion(const Options& options, TerminalUi& ui) {
  const std::vector<std::string>& words = options.arguments;
  const std::string wanted = words.empty() ? "" : words.front();
  if ((wanted == "tools" && words.size() == 2) || (wanted == "options" && words.size() == 3))
    return print_words(words, ui);
  if (words.size() == 1) {
    if (wanted == "components" || wanted == "services" || wanted == "tools") return print_names(wanted);
    if (wanted == "bash") return print(bash_completion()), kExitDone;
    if (wanted == "zsh") return print(zsh_completion()), kExitDone;
    if (wanted == "fish") return print(fish_completion()), kExitDone;
    if (wanted == "man") return print(manual_page(component_tools("", ui))), kExitDone;
  }
  return Error{ErrorCode::usage,
               "completion of which shell?",
               "command line",
               "`slipway completion bash`, `zsh` or `fish`; `slipway completion man` prints the manual page",
               {}};
}

}  // namespace slipway::core
