// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvswitch.hpp"

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

std::string_view to_string(NvSwitch generation) { return generation == NvSwitch::lr10 ? "lr10" : "ls10"; }

std::optional<NvSwitch> nvswitch_of(const slipway::PciDevice& device) {
  constexpr std::uint32_t kOtherBridge = 0x0680;
  if (device.vendor != kVendor || device.device_class >> 8 != kOtherBridge) return std::nullopt;
  const auto id = device.device;
  if (id == 0x1ae8 || (id >= 0x1af0 && id <= 0x1aff)) return NvSwitch::lr10;
  // 22a8-22ab are the PCI bridge of the same chip, 22ac-22af its non-transparent bridge.
  if (id >= 0x22a0 && id <= 0x22a7) return NvSwitch::ls10;
  return std::nullopt;
}

bool is_nvlink5_switch_vpd(std::string_view vpd) { return vpd.find("SW_MNG") != std::string_view::npos; }

}  // namespace slipway::nvidia
