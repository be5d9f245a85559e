// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/shared_settings.hpp"

#include <slipway/text.hpp>

#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/variables.hpp"

namespace slipway::nvidia::config {
namespace {

constexpr const char* kDevicePluginName = "deviceplugin";

std::string sharing_text(const SharedResource& entry, const Json& devices) {
  std::string text = std::to_string(entry.replicas) + " of each " + (entry.name.empty() ? "device" : entry.name);
  if (!devices.is_string() || devices != "all") text += " (" + canonical(devices) + ")";
  return text + (entry.rename.empty() ? "" : " as " + entry.rename);
}

/// Returns "time-slicing, 4 of each nvidia.com/gpu" or "none".
std::string sharing_text(const Settings& settings) {
  const Json json = to_json(settings)["sharing"];
  std::string text(to_string(settings.sharing.kind));
  if (json.empty()) return text;
  const Json& resources = json.front()["resources"];
  for (std::size_t i = 0; i < settings.sharing.resources.size(); ++i)
    text += ", " + sharing_text(settings.sharing.resources[i], resources[i]["devices"]);
  return text + (settings.sharing.rename_by_default ? ", renamed" : "");
}

std::string names_text(const Settings& settings) {
  std::vector<std::string> names;
  for (const auto* patterns : {&settings.gpu_names, &settings.mig_names})
    for (const NamePattern& each : *patterns) names.push_back(each.pattern + ": " + each.name);
  return names.empty() ? "NVIDIA's own" : joined(names);
}

}  // namespace

Result<std::optional<Settings>> settings_of_deviceplugin(const Spec& spec, const Host& host) {
  const auto section = spec.section_of(kDevicePluginName);
  if (!section) return std::optional<Settings>();
  SLIPWAY_TRY(settings, read_settings(*section, kDevicePluginName, host, no_environment));
  return std::optional(std::move(settings));
}

Result<Settings> read_shared_settings(const Spec& spec, const std::string& component, const Host& host,
                                      const char* (*process)(const char* name)) {
  if (names_a_config(spec, component, process)) return read_settings(spec, component, host, process);
  SLIPWAY_TRY(shared, settings_of_deviceplugin(spec, host));
  if (!shared) return read_settings(spec, component, host, process);
  SLIPWAY_TRY(warnings, check_variables(spec, component, process));
  shared->warnings = std::move(warnings);
  SLIPWAY_CHECK(take_environment(
      with_variables_of(spec, process), [&](const char* name) { return place_of_variable(spec, component, name); },
      *shared));
  SLIPWAY_CHECK(check_settings(*shared));
  return *std::move(shared);
}

std::vector<std::string> shared_config_files(const Spec& spec, const std::string& component,
                                             const char* (*process)(const char* name)) {
  const auto shared = names_a_config(spec, component, process) ? std::nullopt : spec.section_of(kDevicePluginName);
  return shared ? config_files(*shared, kDevicePluginName, no_environment) : config_files(spec, component, process);
}

std::vector<std::string> contradictions(const std::string& component, const Settings& own,
                                        const Settings& of_deviceplugin) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& what, const std::string& mine, const std::string& theirs) {
    if (mine != theirs)
      found.push_back(what + ": " + component + " has " + mine + ", and deviceplugin has " + theirs +
                      "; leave it out of " + component + " to take that of deviceplugin");
  };
  compare("MIG strategy", std::string(to_string(own.mig_strategy)),
          std::string(to_string(of_deviceplugin.mig_strategy)));
  compare("sharing", sharing_text(own), sharing_text(of_deviceplugin));
  compare("names of resources", names_text(own), names_text(of_deviceplugin));
  return found;
}

}  // namespace slipway::nvidia::config
