// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/snapshot.hpp - combines the data from NVML, the settings and the host.
#pragma once

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/driver_watch.hpp"
#include "deviceplugin/service/registrar.hpp"

namespace slipway::deviceplugin {

/// The keys of the component's section besides the config.
struct SnapshotKeys {
  std::string cdi_vendor;
  std::string driver_root = "/";
  bool has_mig = false;  ///< the component mig is in the spec, so slipway manages the layout
};

/// Errors go into the snapshot's `problem`: then nothing is offered, or everything except the missing devices.
Snapshot make_snapshot(const DriverWatch& watch, const Settings& settings, const Host& host, const SnapshotKeys& keys);

/// Returns the files that make_snapshot() reads, for a FileWatch: device nodes, and the record of who manages the GPUs.
std::vector<std::string> snapshot_files(const Settings& settings, const SnapshotKeys& keys);

/// Returns "GPU 3 (0000:65:00.0) exists, but the driver does not show it, …"
std::string absent_text(const AbsentGpu& gpu);

/// Returns "another program has changed the MIG layout of GPU 3 (0000:65:00.0) …"
std::string repartitioned_text(const Gpu& gpu);

/// Returns one line for `systemctl status`: "8 of 8 devices healthy, nvidia.com/gpu registered".
std::string summary(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints);

/// Returns the reasons why GPUs or resources are not allocated, a line each: "GPU 3 (0000:65:00.0) is unhealthy: XID 79
/// …".
std::vector<std::string> reasons(const Snapshot& snapshot, const std::map<std::string, EndpointStatus>& endpoints);

}  // namespace slipway::deviceplugin
