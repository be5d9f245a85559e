// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/toolkit_config.hpp - the settings of NVIDIA's container toolkit (config.toml), which
// slipway-runtime, its NRI plugin and NVIDIA's runtime read: the known keys, and the values from spec and variables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "nvidia/switch.hpp"
#include "toolkit/runtime/variables.hpp"

namespace slipway::toolkit {

inline constexpr const char* kToolkitConfig = "/etc/nvidia-container-runtime/config.toml";

/// Returns all keys that the file may have, dotted; `idle` is a key's default.
std::span<const nvidia::Switch> toolkit_config_keys();

/// The settings for the file.
struct ToolkitConfig {
  Json set = Json::object();           ///< nested tables in the form of action::merge()
  std::vector<std::string> keys;       ///< keys of the spec that set them
  std::vector<std::string> variables;  ///< that say so
};

/// @param nri  `mode: nri`: only the NRI service reads the file
/// Errors: `invalid` or `usage`, with the variable; `unsupported` a setting without effect on the NRI service.
Result<ToolkitConfig> read_toolkit_config(const Spec& spec, const Variables& variables, bool nri = false);

/// Returns a sentence for each key in the file that slipway-runtime, or the NRI service, ignores.
std::vector<std::string> toolkit_config_warnings(const Json& file, bool nri = false);

}  // namespace slipway::toolkit
