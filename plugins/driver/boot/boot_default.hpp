// SPDX-License-Identifier: Apache-2.0
// plugins/driver/boot/boot_default.hpp - the kernel that GRUB boots by default, and whether slipway may keep it.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// The settings of slipway alone, below /etc/default/grub.d.
inline constexpr const char* kGrubFile = "/etc/default/grub.d/slipway-kernel.cfg";

struct BootDefault {
  std::string entry;       ///< of the kernel, as GRUB_DEFAULT takes it: "SUBMENU>ENTRY"; empty: not in GRUB's menu
  std::string own_choice;  ///< the administrator's: "GRUB_DEFAULT=saved in /etc/default/grub"; empty: none
  bool has_update_grub = false;
  bool has_apt = false;

  bool operator==(const BootDefault&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BootDefault, entry, own_choice, has_update_grub, has_apt)

/// @param release  the kernel that the default is to be kept on
BootDefault read_boot_default(const Host& host, const std::string& release);

}  // namespace slipway::driver
