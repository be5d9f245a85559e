// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/initramfs.hpp - which program makes the root's initramfs, and whether nouveau can get into it.
#pragma once

#include <string>

#include <slipway/host.hpp>

namespace slipway::driver {

struct Initramfs {
  std::string tool;               ///< "initramfs-tools", "dracut", "mkinitcpio"; empty: none
  bool may_hold_nouveau = false;  ///< then the blacklist must be in it too
};

Initramfs read_initramfs(const Host& host, const std::string& kernel_release);

}  // namespace slipway::driver
