// SPDX-License-Identifier: Apache-2.0
#include "nvidia/device_nodes.hpp"

#include <algorithm>

namespace slipway::nvidia {

std::vector<action::DeviceNode> control_nodes(const std::vector<std::string>& modules, unsigned mode) {
  const auto has = [&](std::string_view name) { return std::ranges::find(modules, name) != modules.end(); };
  std::vector<action::DeviceNode> nodes;
  if (has("nvidia")) nodes.push_back({"/dev/nvidiactl", kMajor, "", kControlMinor, mode});
  if (has("nvidia-uvm")) {
    nodes.push_back({"/dev/nvidia-uvm", 0, "nvidia-uvm", 0, mode});
    nodes.push_back({"/dev/nvidia-uvm-tools", 0, "nvidia-uvm", 1, mode});
  }
  if (has("nvidia-modeset")) nodes.push_back({"/dev/nvidia-modeset", kMajor, "", kModesetMinor, mode});
  return nodes;
}

action::DeviceNode gpu_node(unsigned minor, unsigned mode) {
  return {"/dev/nvidia" + std::to_string(minor), kMajor, "", minor, mode};
}

}  // namespace slipway::nvidia
