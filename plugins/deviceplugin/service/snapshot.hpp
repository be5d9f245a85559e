// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/snapshot.hpp - puts together what NVML, the settings and the host say.
#pragma once

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/driver_watch.hpp"
#include "deviceplugin/service/registrar.hpp"

namespace slipway::deviceplugin {

/// What the component's section says besides the config.
struct SnapshotKeys {
  std::string cdi_vendor;
  std::string driver_root = "/";
  bool has_mig = false;  ///< the component mig is in the spec, so that the layout is slipway's
};

/// What goes wrong becomes its `problem`: then it offers nothing, or all but what is missing.
Snapshot make_snapshot(const DriverWatch& watch, const Settings& settings, const Host& host, const SnapshotKeys& keys);

/// The files that make_snapshot() looks at, for a FileWatch: device nodes, and who manages the GPUs.
std::vector<std::string> snapshot_files(const Settings& settings, const SnapshotKeys& keys);

/// "GPU 3 (0000:65:00.0) is there, and the driver does not show it: …"
std::string absent_text(const AbsentGpu& gpu);

/// "another program has changed the MIG layout of GPU 3 (0000:65:00.0) …"
std::string repartitioned_text(const Gpu& gpu);

/// One line for `systemctl status`: "8 of 8 devices healthy, nvidia.com/gpu registered".
std::string summary(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints);

/// What keeps GPUs or resources from being handed out, a line each: "GPU 3 (0000:65:00.0) is unhealthy: XID 79 …".
std::vector<std::string> reasons(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints);

}  // namespace slipway::deviceplugin
