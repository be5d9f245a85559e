// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/snapshot.hpp - puts together what NVML, the settings and the host say.
#pragma once

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/driver_watch.hpp"
#include "deviceplugin/service/registrar.hpp"

namespace slipway::deviceplugin {

/// What goes wrong becomes its `problem`, and then it offers nothing.
Snapshot make_snapshot(const DriverWatch& watch, const Settings& settings, const Host& host,
                       const std::string& cdi_vendor);

/// The files that make_snapshot() looks at, for a FileWatch: device nodes, and who manages the GPUs.
std::vector<std::string> snapshot_files(const Settings& settings);

/// One line for `systemctl status`: "8 of 8 devices healthy, nvidia.com/gpu registered".
std::string summary(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints);

/// What keeps GPUs or resources from being handed out, a line each: "GPU 3 (0000:65:00.0) is unhealthy: XID 79 …".
std::vector<std::string> reasons(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints);

}  // namespace slipway::deviceplugin
