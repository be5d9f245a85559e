// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/installed_plugins.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <slipway/text.hpp>

#include "core/loader/installation.hpp"

namespace slipway::plugin_check {
namespace {

namespace fs = std::filesystem;

void add_names(const core::PluginFile& file, std::set<std::string>& names) {
  for (const core::Manifest& manifest : file.components) {
    names.insert(manifest.component);
    names.insert(manifest.provides.begin(), manifest.provides.end());
  }
}

bool has_component(const core::PluginFile& file, const std::string& name) {
  return std::ranges::count(file.components, name, &core::Manifest::component) != 0;
}

}  // namespace

std::vector<core::PluginFile> plugins_beside(const core::PluginFile& plugin, Findings& findings) {
  std::vector<std::string> folders = core::plugin_folders(true);
  folders.push_back(core::installed_plugin_folder());
  std::map<std::string, core::PluginFile> others;  // by path: a folder may be named twice
  std::set<std::string> components;
  std::error_code code;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder, code)) continue;
    auto found = core::discover_plugins({folder});
    if (!found) {
      findings.not_exercised("plugin.beside",
                             "the plugins of " + folder + " are not considered: " + found.error().what);
      continue;
    }
    for (auto& [path, other] : found->files) {
      if (fs::path(path).filename() == fs::path(plugin.path).filename() || others.contains(path)) continue;
      bool has_own_name = false;
      bool has_other_name = false;
      for (const core::Manifest& manifest : other.components) {
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
  std::vector<core::PluginFile> list;
  for (auto& [path, other] : others) list.push_back(std::move(other));
  return list;
}

void find_unknown_order(const core::PluginFile& plugin, const std::vector<core::PluginFile>& others,
                        Findings& findings) {
  std::set<std::string> known;
  for (const core::PluginFile& other : others) add_names(other, known);
  add_names(plugin, known);
  for (const core::Manifest& manifest : plugin.components)
    for (const auto& [list, verb] :
         {std::pair(&manifest.after, " comes after "), std::pair(&manifest.requires_, " requires ")}) {
      std::vector<std::string> missing;
      for (const std::string& name : *list)
        if (!known.contains(name)) missing.push_back("'" + name + "'");
      if (!missing.empty())
        findings.warning("plugin.order",
                         manifest.component + verb + listed(missing, "and") +
                             ": no installed plugin has or provides this component or capability",
                         "correct the name, or install the plugin that provides it");
    }
}

}  // namespace slipway::plugin_check
