// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/installed_plugins.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <slipway/text.hpp>

#include "core/loader/installation.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

void add_names(const PluginFile& file, std::set<std::string>& names) {
  for (const Manifest& manifest : file.components) {
    names.insert(manifest.component);
    names.insert(manifest.provides.begin(), manifest.provides.end());
  }
}

bool has_component(const PluginFile& file, const std::string& name) {
  return std::ranges::count(file.components, name, &Manifest::component) != 0;
}

}  // namespace

std::vector<PluginFile> plugins_beside(const PluginFile& plugin, Findings& findings) {
  std::vector<std::string> folders = plugin_folders(true);
  folders.push_back(installed_plugin_folder());
  std::map<std::string, PluginFile> others;  // by path: a folder may be named twice
  std::set<std::string> components;
  std::error_code code;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder, code)) continue;
    auto found = discover_plugins({folder});
    if (!found) {
      findings.not_exercised("plugin.beside", "the plugins of " + folder + " are left out: " + found.error().what);
      continue;
    }
    for (auto& [path, other] : found->files) {
      if (fs::path(path).filename() == fs::path(plugin.path).filename() || others.contains(path)) continue;
      bool has_own_name = false;
      bool has_other_name = false;
      for (const Manifest& manifest : other.components) {
        if (has_component(plugin, manifest.component)) {
          findings.fail("plugin.beside",
                        "the component " + manifest.component + " is in " + plugin.path + " and in " + path +
                            ", which is installed: slipway refuses to start with both",
                        "remove " + path + ", or give your component another name");
          has_own_name = true;
        }
        has_other_name = has_other_name || !components.insert(manifest.component).second;
      }
      if (!has_own_name && !has_other_name) others.emplace(path, std::move(other));
    }
  }
  std::vector<PluginFile> list;
  for (auto& [path, other] : others) list.push_back(std::move(other));
  return list;
}

void find_unknown_order(const PluginFile& plugin, const std::vector<PluginFile>& others, Findings& findings) {
  std::set<std::string> known;
  for (const PluginFile& other : others) add_names(other, known);
  add_names(plugin, known);
  for (const Manifest& manifest : plugin.components)
    for (const auto& [list, verb] :
         {std::pair(&manifest.after, " comes after "), std::pair(&manifest.requires_, " requires ")}) {
      std::vector<std::string> missing;
      for (const std::string& name : *list)
        if (!known.contains(name)) missing.push_back("'" + name + "'");
      if (!missing.empty())
        findings.warning("plugin.order",
                         manifest.component + verb + listed(missing, "and") +
                             ", which no plugin that is installed here has or provides",
                         "look for a mistyped name, or install the plugin that it means");
    }
}

}  // namespace slipway::core
