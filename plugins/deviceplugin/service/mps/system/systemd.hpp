// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/system/systemd.hpp - asks systemd, by its programs, for units and mounts.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "deviceplugin/service/mps/system/unit.hpp"

namespace slipway::deviceplugin {

/// True when systemd is this machine's process 1.
bool systemd_runs();

/// Errors: system errors; `io` systemd refuses, with its text.
Status start_unit(const TransientUnit& unit);

/// Stops the unit and all processes in its cgroup. Does nothing if there is no such unit.
void stop_unit(const std::string& name);

/// Sets properties until the unit ends. Does nothing if there is no such unit.
void set_properties(const std::string& name, const std::vector<std::string>& properties);

/// Mounts for all processes of the machine: a service's own mounts are visible only to itself, because its unit has a
/// mount namespace. Errors: system errors; `io` systemd refuses, with its text.
Status mount_tmpfs(const std::string& path, const std::string& options);

}  // namespace slipway::deviceplugin
