// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {

std::string service_file_name(const PluginFile& plugin, const Manifest& component) {
  const std::filesystem::path path(plugin.path);
  switch (component.service) {
    case Manifest::ServiceIn::none:
      return {};
    case Manifest::ServiceIn::plugin:
      return path.filename().string();
    case Manifest::ServiceIn::beside:
      return path.stem().string() + ".service.so";
    case Manifest::ServiceIn::program:
      return path.stem().string() + "-service";
  }
  return {};
}

Result<ServiceFile> service_file(const PluginFile& plugin, const Manifest& component) {
  if (component.service == Manifest::ServiceIn::none)
    return Error{ErrorCode::unsupported,
                 component.component + " has no service",
                 plugin.path,
                 "`slipway plugin list -v` shows which components have one",
                 {}};
  if (component.service == Manifest::ServiceIn::plugin) return ServiceFile{plugin.path};
  const bool is_program = component.service == Manifest::ServiceIn::program;
  const std::filesystem::path beside =
      std::filesystem::path(plugin.path).replace_filename(service_file_name(plugin, component));
  std::error_code problem;
  if (!std::filesystem::exists(beside, problem))
    return Error{ErrorCode::not_found,
                 "the file with the service of " + component.component + " is missing",
                 beside.string(),
                 "install the plugin completely: " + beside.filename().string() + " belongs in the folder of " +
                     std::filesystem::path(plugin.path).filename().string(),
                 {}};
  SLIPWAY_TRY(service, read_plugin_file(beside.string(), is_program ? ElfKind::program : ElfKind::library));
  for (const Manifest& manifest : service.components)
    if (manifest.component == component.component && service.plugin_version == plugin.plugin_version)
      return ServiceFile{service.path, is_program};
  return Error{ErrorCode::conflict,
               "the service of " + component.component + " is of plugin version " + service.plugin_version +
                   ", the plugin is " + plugin.plugin_version,
               service.path,
               "install both files from the same build",
               {}};
}

}  // namespace slipway::core
