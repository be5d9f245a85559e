// SPDX-License-Identifier: Apache-2.0
#include "core/cli/command.hpp"

namespace slipway::core {

Result<int> run_explain(const Options& options, TerminalUi&) {
  SLIPWAY_TRY(plugins, discover_plugins(plugin_folders(true)));
  if (options.arguments.empty()) {
    std::string text;
    for (const auto& [component, path] : plugins.component_to_path)
      text += component + ": " + plugins.manifest(component)->purpose + "\n";
    print(text);
    return kExitDone;
  }
  const std::string& word = options.arguments.front();
  const std::size_t dot = word.find('.');
  const std::string component = word.substr(0, dot);
  const Manifest* manifest = plugins.manifest(component);
  if (manifest == nullptr) {
    std::vector<std::string> known;
    for (const auto& [name, path] : plugins.component_to_path) known.push_back(name);
    const std::string near = nearest(component, known);
    return Error{
        ErrorCode::not_found,
        "there is no component '" + component + "'",
        {},
        near.empty() ? "`slipway plugin list` shows the components that there are" : "did you mean '" + near + "'?",
        {}};
  }
  SLIPWAY_TRY(text, explain(*manifest, dot == std::string::npos ? "" : word.substr(dot + 1)));
  print(text);
  return kExitDone;
}

}  // namespace slipway::core
