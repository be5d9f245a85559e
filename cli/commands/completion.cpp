// SPDX-License-Identifier: Apache-2.0
#include "base/command_line/read_words.hpp"
#include "cli/command.hpp"
#include "cli/front/handover.hpp"
#include "cli/reference/component_tools.hpp"
#include "cli/reference/reference.hpp"
#include "core/loader/installation.hpp"

namespace slipway::cli {
namespace {

/// Completes a tool's command line as typed so far: component, tool and arguments, without the plugin's name in front,
/// and with the component's name added where it was left out.
std::vector<std::string> without_plugin(const core::Plugins& plugins, std::vector<std::string> words) {
  if (!words.empty() && plugins.manifest(words[0]) == nullptr && plugin_of_name(plugins, words[0]) != nullptr)
    words.erase(words.begin());
  return with_component(plugins, std::move(words));
}

/// Prints possible next words: the components of a plugin, the tools of a component.
void print_tools(const core::Plugins& plugins, const std::vector<std::string>& typed, TerminalUi& ui) {
  const std::vector<std::string> words = without_plugin(plugins, typed);
  if (typed.empty()) {
    for (const std::string& name : tool_names(plugins)) print(name + "\n");
  } else if (words.empty()) {
    for (const core::Manifest& component : plugin_of_name(plugins, typed[0])->components)
      if (has_tools(component)) print(component.component + "\n");
  } else if (words.size() == 1 && plugins.manifest(words[0]) != nullptr) {
    for (const ComponentTool& tool : component_tools(words[0], ui)) print(tool.name + "\n");
  }
}

std::vector<CommandOption> options_of_tool(const core::Plugins& plugins, const std::vector<std::string>& typed,
                                           TerminalUi& ui) {
  const std::vector<std::string> words = without_plugin(plugins, typed);
  if (words.size() < 2 || plugins.manifest(words[0]) == nullptr) return {};
  for (ComponentTool& tool : component_tools(words[0], ui))
    if (tool.name == words[1]) return std::move(tool.options);
  return {};
}

void print_options(const std::vector<CommandOption>& options) {
  for (const CommandOption& option : options) {
    print(long_name(option) + "\n");
    if (option.letter != 0) print(short_name(option) + "\n");
  }
}

/// Prints the profiles of the simulator by becoming its program. Prints nothing where it is not installed.
void print_profiles() { (void)become(core::own_prefix() / "bin/slipway-sim", {"slipway-sim", "profiles"}); }

/// Prints the words that an option accepts.
void print_choices(const std::vector<CommandOption>& options, const std::string& name) {
  for (const CommandOption& option : options) {
    if (long_name(option) != name && short_name(option) != name) continue;
    for (const std::string& choice : choices_of(option)) print(choice + "\n");
    if (value_kind(option) == ValueKind::profile) print_profiles();
  }
}

/// Prints the generations of the root that the typed words name, if this user may read them.
void print_generations(const std::vector<std::string>& typed, TerminalUi& ui) {
  core::SessionOptions options;
  options.root = command_line::find_options({{"root", "DIR"}}, typed).text("root", options.root);
  const auto session = core::Session::open(options, ui);
  if (!session) return;
  const auto numbers = (*session)->state().generations();
  if (!numbers) return;
  for (const int number : *numbers) print(std::to_string(number) + "\n");
}

}  // namespace

Result<int> complete_for_bash(const Options&, TerminalUi&) { return print(bash_completion()), core::kExitDone; }
Result<int> complete_for_zsh(const Options&, TerminalUi&) { return print(zsh_completion()), core::kExitDone; }
Result<int> complete_for_fish(const Options&, TerminalUi&) { return print(fish_completion()), core::kExitDone; }

Result<int> print_manual_page(const Options&, TerminalUi& ui) {
  print(manual_page(component_tools("", ui)));
  return core::kExitDone;
}

/// Prints words for the completions while a user types: `completion names KIND -- WORD…`, with the words of a tool's
/// command line before the current one, or of `rollback` and `diff`. Other kinds take no words.
Result<int> print_names(const Options& options, TerminalUi& ui) {
  std::vector<std::string> words = options.arguments;
  const std::string kind = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  if (kind == "profiles") print_profiles();
  if (kind == "generations") print_generations(words, ui);
  SLIPWAY_TRY(plugins, core::discover_plugins(core::plugin_folders(true)));
  if (kind == "components" || kind == "services") {
    for (const auto& [name, path] : plugins.component_to_path)
      if (kind == "components" || plugins.manifest(name)->service != core::Manifest::ServiceIn::none)
        print(name + "\n");
  } else if (kind == "tools") {
    print_tools(plugins, words, ui);
  } else if (kind == "options") {
    print_options(options_of_tool(plugins, words, ui));
  } else if (kind == "values" && !words.empty()) {
    print_choices(options_of_tool(plugins, words, ui), words.back());
  }
  return core::kExitDone;
}

}  // namespace slipway::cli
