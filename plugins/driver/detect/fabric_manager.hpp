// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/fabric_manager.hpp - NVIDIA's Fabric Manager, which machines with NVSwitches need.
//
// Its version must equal the driver's. Without it CUDA fails with error 802, "system not yet initialized".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

struct FabricManager {
  std::string what;     ///< "nvidia-fabricmanager-550", "/usr/bin/nv-fabricmanager"
  std::string version;  ///< empty: unknown
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(FabricManager, what, version)

/// Empty if none is installed.
std::optional<FabricManager> read_fabric_manager(const Host& host);

struct HostFacts;
/// Returns what is wrong with the Fabric Manager on a machine with NVSwitches and this driver, as a sentence without a
/// full stop; empty: nothing.
std::string fabric_manager_fault(const HostFacts& facts, const std::string& driver_version);
/// Returns the remedy for that fault.
std::string fabric_manager_remedy(const std::string& driver_version);

}  // namespace slipway::driver
