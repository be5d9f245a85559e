// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/shared.hpp - the config of a component beside the device plugin: the one that its own section
// names, else that of the component deviceplugin in the same host spec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/spec.hpp>

#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// What deviceplugin is configured with, read from its section as the component's own has it (`sections` of the
/// manifest). Nothing where the host spec lacks deviceplugin. Errors: those of read_settings().
Result<std::optional<Settings>> settings_of_deviceplugin(const Spec& spec, const Host& host);

/// The component's own config, where its section or a variable names one; else that of deviceplugin, whose warnings
/// that component gives. The component's variables win over either.
/// @param process  as for read_settings(). Errors: those of read_settings().
Result<Settings> read_shared_settings(const Spec& spec, const std::string& component, const Host& host,
                                      const char* (*process)(const char* name));

/// The files and folders that read_shared_settings() reads, for a FileWatch; they need not exist.
std::vector<std::string> shared_config_files(const Spec& spec, const std::string& component,
                                             const char* (*process)(const char* name));

/// What the two say otherwise of the resources on a node, a sentence for each: MIG strategy, sharing, names.
/// @param component  whose settings `own` are, for the sentences
std::vector<std::string> contradictions(const std::string& component, const Settings& own,
                                        const Settings& of_deviceplugin);

}  // namespace slipway::nvidia::config
