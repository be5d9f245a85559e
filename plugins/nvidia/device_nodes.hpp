// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/device_nodes.hpp - the character devices of the driver: names, majors, minors, modes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/action.hpp>

namespace slipway::nvidia {

inline constexpr unsigned kMajor = 195;         ///< fixed: nvidiaN, nvidiactl, nvidia-modeset
inline constexpr unsigned kControlMinor = 255;  ///< /dev/nvidiactl
inline constexpr unsigned kModesetMinor = 254;  ///< /dev/nvidia-modeset
inline constexpr unsigned kMaxGpuMinor = 247;   ///< 248-253 are reserved
inline constexpr unsigned kNodeMode = 0666;     ///< the driver's default (NVreg_DeviceFileMode): jobs need no group

/// What every machine with the driver has, by the module that serves it: nvidiactl, nvidia-uvm and -tools, modeset.
std::vector<action::DeviceNode> control_nodes(const std::vector<std::string>& modules, unsigned mode = kNodeMode);
/// /dev/nvidia<minor>.
action::DeviceNode gpu_node(unsigned minor, unsigned mode = kNodeMode);

}  // namespace slipway::nvidia
