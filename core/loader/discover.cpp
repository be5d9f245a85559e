// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

/// Returns the *.so files of a folder by name; adds the reason to `problems` when it cannot be listed.
std::vector<std::string> shared_objects(const std::string& folder, std::vector<Error>& problems) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
    if (entry->path().extension() == ".so" && entry->path().stem().extension() != ".service")
      paths.push_back(entry->path().string());
  if (problem) problems.push_back(system_error("list the plugin folder", folder, problem.value()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status add(Plugins& plugins, PluginFile file) {
  if (plugins.files.count(file.path) > 0) return {};  // the same file through another folder or a link
  for (const Manifest& component : file.components) {
    const auto [other, is_new] = plugins.component_to_path.emplace(component.component, file.path);
    if (!is_new)
      return Error{
          ErrorCode::conflict,
          "two plugins hold the component '" + component.component + "': " + other->second + " and " + file.path,
          file.path,
          "remove one of the two files",
          {}};
  }
  std::string path = file.path;
  plugins.files.emplace(std::move(path), std::move(file));
  return {};
}

}  // namespace

const Manifest* Plugins::manifest(const std::string& component) const {
  const auto path = component_to_path.find(component);
  if (path == component_to_path.end()) return nullptr;
  for (const Manifest& candidate : files.at(path->second).components)
    if (candidate.component == component) return &candidate;
  return nullptr;
}

Result<Plugins> discover_plugins(const std::vector<std::string>& folders) {
  Plugins plugins;
  for (const std::string& folder : folders)
    for (const std::string& path : shared_objects(folder, plugins.problems)) {
      auto file = read_plugin_file(path);
      if (!file)
        plugins.problems.push_back(std::move(file).error());
      else
        SLIPWAY_CHECK(add(plugins, std::move(*file)));
    }
  return plugins;
}

}  // namespace slipway::core
