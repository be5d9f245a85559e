// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/shared_settings.hpp - the config of a component that works beside the device plugin. It is the
// config that the component's own section names, otherwise the config of the component deviceplugin in the same host
// spec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/spec.hpp>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// Reads the config of deviceplugin from its section, which the component sees through `sections` of its manifest.
/// Empty if the host spec has no deviceplugin. Errors: those of read_settings().
Result<std::optional<Settings>> settings_of_deviceplugin(const Spec& spec, const Host& host);

/// Reads the component's own config if its section or a variable names one; else that of deviceplugin, which reports
/// its own warnings. The component's variables override either.
/// @param process  as for read_settings(). Errors: those of read_settings().
Result<Settings> read_shared_settings(const Spec& spec, const std::string& component, const Host& host,
                                      const char* (*process)(const char* name));

/// Returns the files and folders that read_shared_settings() reads, for a FileWatch; they need not exist.
std::vector<std::string> shared_config_files(const Spec& spec, const std::string& component,
                                             const char* (*process)(const char* name));

/// Returns a sentence for each difference of the two about the resources on a node: MIG strategy, sharing, names.
/// @param component  owner of `own`, for the sentences
std::vector<std::string> contradictions(const std::string& component, const Settings& own,
                                        const Settings& of_deviceplugin);

}  // namespace slipway::nvidia::config
