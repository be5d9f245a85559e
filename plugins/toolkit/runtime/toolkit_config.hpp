// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/toolkit_config.hpp - the settings of NVIDIA's container toolkit (config.toml), which
// slipway-runtime, its NRI plugin and NVIDIA's runtime read: which there are, and what spec and variables set there.
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

/// All keys that the file may have, dotted; `idle` is a key's default.
std::span<const nvidia::Switch> toolkit_config_keys();

/// What is set in the file.
struct ToolkitConfig {
  Json set = Json::object();           ///< nested tables, as action::merge() takes them
  std::vector<std::string> keys;       ///< of the spec that say so
  std::vector<std::string> variables;  ///< that say so
};

/// @param nri  `mode: nri`: the NRI service alone reads the file
/// Errors: `invalid` or `usage`, naming the variable; `unsupported` what has no effect on the NRI service.
Result<ToolkitConfig> read_toolkit_config(const Spec& spec, const Variables& variables, bool nri = false);

/// What the file has and slipway-runtime, or the NRI service, does nothing with, a sentence each.
std::vector<std::string> toolkit_config_warnings(const Json& file, bool nri = false);

}  // namespace slipway::toolkit
