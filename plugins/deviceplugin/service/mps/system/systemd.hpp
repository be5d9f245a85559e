// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/system/systemd.hpp - asks systemd, by its programs, for units and mounts.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "deviceplugin/service/mps/system/unit.hpp"

namespace slipway::deviceplugin {

/// systemd is this machine's process 1.
bool systemd_runs();

/// Errors: system errors; `io` systemd refuses, with its words.
Status start_unit(const TransientUnit& unit);

/// With what its cgroup has. Nothing happens where there is no such unit.
void stop_unit(const std::string& name);

/// Until the unit ends. Nothing happens where there is none.
void set_properties(const std::string& name, const std::vector<std::string>& properties);

/// For all processes of the machine: a service's own mounts are seen by nobody else, since its unit has a mount
/// namespace. Errors: system errors; `io` systemd refuses, with its words.
Status mount_tmpfs(const std::string& path, const std::string& options);

}  // namespace slipway::deviceplugin
