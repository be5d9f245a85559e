// SPDX-License-Identifier: Apache-2.0
// plugins/driver/boot/boot_default.hpp - the kernel that the boot loader boots by default, and whether slipway may keep
// it.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// The settings of slipway alone, below /etc/default/grub.d.
inline constexpr const char* kGrubFile = "/etc/default/grub.d/slipway-kernel.cfg";

struct BootDefault {
  std::string loader;      ///< "grub", "grub-bls" (entries of the Boot Loader Specification), "systemd-boot"; empty:
                           ///< unknown
  std::string entry;       ///< of the kernel, as the loader's default takes it: "SUBMENU>ENTRY"; empty: not in its menu
  std::string own_choice;  ///< the administrator's: "GRUB_DEFAULT=saved in /etc/default/grub"; empty: none
  bool has_update_grub = false;
  bool has_apt = false;
  bool has_dnf = false;
  std::string file;     ///< loader.conf or grubenv
  std::string text;     ///< of loader.conf, with the default
  unsigned mode = 0;    ///< of loader.conf
  std::string program;  ///< "grub2-editenv"; empty: the root has none
  std::string saved;    ///< saved_entry in grubenv

  bool operator==(const BootDefault&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BootDefault, loader, entry, own_choice, has_update_grub, has_apt,
                                                has_dnf, file, text, mode, program, saved)

/// @param release  the kernel that the default is to be kept on
/// @param without  kernels without modules, which the default may leave
/// @param kept_entry     the entry that slipway keeps already, as the receipt has it; empty: none
BootDefault read_boot_default(const Host& host, const std::string& release, const std::vector<std::string>& without,
                              const std::string& kept_entry);

}  // namespace slipway::driver
