// SPDX-License-Identifier: Apache-2.0
// presets.hpp - the kernel parameters that a spec asks for: its preset and its own values.
#pragma once

#include <map>
#include <string>

#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace sysctl {

/// Parameter to value, in the order of the file.
using Parameters = std::map<std::string, std::string>;

/// Errors: `invalid` for a name or value that cannot stand in a sysctl.d file.
slipway::Result<Parameters> wanted_parameters(const slipway::Spec& spec);

/// Where a parameter is in procfs: "net.core.rmem_max" is /proc/sys/net/core/rmem_max.
std::string path_of(const std::string& parameter);

}  // namespace sysctl
