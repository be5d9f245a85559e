// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/config/choose.hpp - which config is in force: one file, or one of several in a ConfigMap or
// folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/spec.hpp>

#include "deviceplugin/config/settings.hpp"

namespace slipway::deviceplugin {

/// Named configs; a single one has the name "".
using Configs = std::map<std::string, Node>;

/// One config, or the entries of a ConfigMap. Errors: `invalid`.
Result<Configs> split_configs(const Node& document, const std::string& raw_text);

/// The one that `wanted` names; when it is empty: `fallback`, then "default", "any", "config.yaml", then the only one.
/// Errors: `not_found` with the names that there are.
Result<const Node*> choose_config(const Configs& configs, const std::string& wanted, const std::string& fallback);

/// The settings that are in force for a component's section of the host spec, and the environment over them.
/// Reads `config`, else `config_file` (a file, or a folder of files), else $CONFIG_FILE; and `config_choice_file`.
/// Errors: `invalid`, `not_found`, with the place.
Result<Settings> read_settings(const Spec& spec, const Host& host, const char* (*environment)(const char* name));

}  // namespace slipway::deviceplugin
