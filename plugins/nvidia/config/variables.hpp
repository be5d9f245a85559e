// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/variables.hpp - the variables of NVIDIA's device plugin and of GPU Feature Discovery, in a
// component's key `env` and in the environment of its service.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "nvidia/switch.hpp"

namespace slipway::nvidia::config {

/// Of nvidia-device-plugin, and of what its chart has beside it in the same pod.
std::span<const Switch> plugin_variables();
/// Of gpu-feature-discovery, likewise.
std::span<const Switch> discovery_variables();

/// The value of a variable; nullptr where it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Variables of the spec's key `env` before those of `process`.
Environment with_variables_of(const Spec& spec, Environment process);

/// Where a variable stands that is set: "spec.components.gfd.env.NAME", whose line a message shows, where the spec has
/// it, else "environment.NAME".
std::string place_of_variable(const Spec& spec, const std::string& component, const std::string& name);

/// What a component makes of the variables in its `env`: "deviceplugin" and "gfd" have them.
/// @return warnings. Errors: `usage` naming a variable that is refused, there or in the environment of the process.
Result<std::vector<std::string>> check_variables(const Spec& spec, const std::string& component,
                                                 const Environment& process);

}  // namespace slipway::nvidia::config
