// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {

Result<std::string> service_library(const PluginFile& plugin, const Manifest& component) {
  if (component.service == Manifest::ServiceIn::none)
    return Error{ErrorCode::unsupported,
                 component.component + " has no service",
                 plugin.path,
                 "`slipway plugin list -v` shows which components have one",
                 {}};
  if (component.service == Manifest::ServiceIn::plugin) return plugin.path;
  const std::filesystem::path beside = std::filesystem::path(plugin.path).replace_extension(".service.so");
  std::error_code problem;
  if (!std::filesystem::exists(beside, problem))
    return Error{ErrorCode::not_found,
                 "the library with the service of " + component.component + " is not there",
                 beside.string(),
                 "install the plugin completely: " + beside.filename().string() + " belongs beside " +
                     std::filesystem::path(plugin.path).filename().string(),
                 {}};
  SLIPWAY_TRY(service, read_plugin_file(beside.string()));
  for (const Manifest& manifest : service.components)
    if (manifest.component == component.component && service.plugin_version == plugin.plugin_version)
      return service.path;
  return Error{ErrorCode::conflict,
               "the service of " + component.component + " is of plugin version " + service.plugin_version +
                   ", the plugin is " + plugin.plugin_version,
               service.path,
               "install both files from the same build",
               {}};
}

}  // namespace slipway::core
