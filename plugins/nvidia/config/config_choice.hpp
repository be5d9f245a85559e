// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/config_choice.hpp - the config in use: one file, or one of several in a ConfigMap or folder.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/spec.hpp>

#include "nvidia/config/config_map.hpp"
#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// Reads the config of a component's section of the host spec: `config`, else `config_file` (a file, or a folder of
/// files), else $CONFIG_FILE; of several the one that `config_choice_file` or `config_name` selects. All components
/// that read it have these four keys.
/// @param component    for errors: "deviceplugin"
/// Variables override the file: those of the key `env`, then those of the process.
/// @param process  process_environment, or no_environment
/// Errors: `invalid`, also for a file or a config that is missing, with the place; `usage` a variable.
Result<Settings> read_settings(const Spec& spec, const std::string& component, const Host& host,
                               const char* (*process)(const char* name));

/// Returns the files and folders that read_settings() reads, for a FileWatch; they need not exist.
std::vector<std::string> config_files(const Spec& spec, const std::string& component,
                                      const char* (*process)(const char* name));

/// Reads the config that the user of a tool has given: a file, a ConfigMap or a folder of configs. Variables of the
/// device plugin's flags override it.
/// @param path     absolute in `host`
/// @param name     name of one of several configs (--config-name); empty: not given
/// @param process  process_environment, or no_environment
/// Errors: `invalid`, `not_found`, with the place; `usage` a variable.
Result<Settings> read_settings_file(const Host& host, const std::string& path, const std::string& name,
                                    const char* (*process)(const char* name));

/// True when the component's section, or a variable that applies to it, names a config.
bool names_a_config(const Spec& spec, const std::string& component, const char* (*process)(const char* name));

/// Returns a variable of this process; nullptr: it is not set.
const char* process_environment(const char* name);
/// Used when the environment is not the service's: for a plan, or another program that inspects the service.
const char* no_environment(const char* name);

}  // namespace slipway::nvidia::config
