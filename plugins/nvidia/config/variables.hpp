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

/// Variables of nvidia-device-plugin, and of the other containers that its chart puts into the same pod.
std::span<const Switch> plugin_variables();
/// The same for gpu-feature-discovery.
std::span<const Switch> discovery_variables();

/// Returns the value of a variable; nullptr: it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Variables of the spec's key `env` override those of `process`.
Environment with_variables_of(const Spec& spec, Environment process);

/// Returns the place of a variable: "spec.components.gfd.env.NAME", whose line a message shows, if it is in the spec,
/// else "environment.NAME".
std::string place_of_variable(const Spec& spec, const std::string& component, const std::string& name);

/// Checks the variables in a component's `env`; "deviceplugin" and "gfd" have that key.
/// @return warnings. Errors: `usage` with a refused variable, there or in the environment of the process.
Result<std::vector<std::string>> check_variables(const Spec& spec, const std::string& component,
                                                 const Environment& process);

}  // namespace slipway::nvidia::config
