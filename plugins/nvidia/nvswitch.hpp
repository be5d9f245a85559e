// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvswitch.hpp - NVSwitch chips by PCI id, so that they are known before any module is loaded.
#pragma once

#include <optional>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::nvidia {

enum class NvSwitch { lr10, ls10 };  ///< A100 systems (NVLink 3), H100 systems (NVLink 4)

std::string_view to_string(NvSwitch generation);

/// The switch's management function (class 0680, vendor 10de). Its bridge functions are not counted: a switch shows up
/// once. NVLink 5 switches are no 10de devices, see is_nvlink5_switch_vpd().
std::optional<NvSwitch> nvswitch_of(const slipway::PciDevice& device);

/// NVLink 5 switches (Blackwell systems) are Mellanox functions whose vital product data names the switch manager.
bool is_nvlink5_switch_vpd(std::string_view vpd);

}  // namespace slipway::nvidia
