// SPDX-License-Identifier: Apache-2.0
// plugins/driver/boot/kernel_trial.hpp - whether GRUB can boot a new kernel once, before it becomes the default.
//
// GRUB boots the entry `next_entry` of its environment block once, and clears it then. So the default stays on the
// kernel that runs, until a boot of the new one is verified. See the GRUB manual, "The GRUB environment block".
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

namespace slipway::driver {

/// GRUB's environment block, a file of 1,024 bytes that grub-editenv writes.
inline constexpr const char* kGrubEnvironment = "/boot/grub/grubenv";
/// Made by the unit that follows slipway-verify.service; /run is empty at each boot.
inline constexpr const char* kVerifiedBoot = "/run/slipway/verified-boot";

struct KernelTrial {
  bool asked = false;         ///< `boot_gate: true` is in force, on a running machine; else nothing below is read
  std::string running;        ///< the kernel that runs
  std::string entry;          ///< GRUB's entry for it, as GRUB_DEFAULT takes it; empty: not in the menu
  std::string own_choice;     ///< the administrator's default, see BootDefault; empty: none
  std::string next_entry;     ///< of the environment block: the entry that GRUB boots next, once
  std::string tried;          ///< the kernel that slipway has chosen for one boot
  std::string not_writable;   ///< why GRUB cannot clear `next_entry`; empty: it can
  bool has_programs = false;  ///< update-grub and grub-editenv are installed
  bool owns_default = false;  ///< slipway keeps the default on a kernel
  bool verified = false;      ///< this boot is verified

  bool operator==(const KernelTrial&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KernelTrial, asked, running, entry, own_choice, next_entry, tried,
                                                not_writable, has_programs, owns_default, verified)

/// @param running  the kernel that runs
KernelTrial read_kernel_trial(const Host& host, const std::string& running);

/// Returns why GRUB cannot write a file in this folder: it writes to the blocks that a file has, which is not possible
/// on LVM, RAID, encrypted disks, and filesystems with checksums or compression of data.
/// @param mounts  the text of /proc/self/mountinfo
std::string why_grub_cannot_write(const std::string& mounts, const std::string& folder);

}  // namespace slipway::driver
