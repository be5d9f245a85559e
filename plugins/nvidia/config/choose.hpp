// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/choose.hpp - which config is in force: one file, or one of several in a ConfigMap or
// folder.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/spec.hpp>

#include "nvidia/config/config_map.hpp"
#include "nvidia/config/settings.hpp"

namespace slipway::nvidia::config {

/// The config that a component's section of the host spec names: `config`, else `config_file` (a file, or a folder of
/// files), else $CONFIG_FILE; of several the one that `config_choice_file` or `config_name` names. Components that read
/// it have these four keys alike.
/// @param component    for errors: "deviceplugin"
/// Variables win over the file: those of the key `env`, then those of the process.
/// @param process  process_environment, or no_environment
/// Errors: `invalid`, also for a file or a config that is missing, with the place; `usage` a variable.
Result<Settings> read_settings(const Spec& spec, const std::string& component, const Host& host,
                               const char* (*process)(const char* name));

/// The files and folders that read_settings() reads, for a FileWatch; they need not exist.
std::vector<std::string> config_files(const Spec& spec, const std::string& component,
                                      const char* (*process)(const char* name));

/// The config that a tool's user names: a file, a ConfigMap or a folder of configs. Variables of the device plugin's
/// flags win.
/// @param path     absolute in `host`
/// @param name     which of several counts (--config-name); empty: none is named
/// @param process  process_environment, or no_environment
/// Errors: `invalid`, `not_found`, with the place; `usage` a variable.
Result<Settings> read_settings_file(const Host& host, const std::string& path, const std::string& name,
                                    const char* (*process)(const char* name));

/// The component's section, or a variable that counts for it, names a config.
bool names_a_config(const Spec& spec, const std::string& component, const char* (*process)(const char* name));

/// A variable of this process; nullptr: it is not set.
const char* process_environment(const char* name);
/// For where the environment is not the service's: a plan, a look from outside.
const char* no_environment(const char* name);

}  // namespace slipway::nvidia::config
