// SPDX-License-Identifier: Apache-2.0
// plugins/driver/kernels/next_boot.hpp - which kernel a root boots next, as far as its boot loader's files tell.
#pragma once

#include <string>

#include <slipway/host.hpp>

namespace slipway::driver {

struct NextBoot {
  std::string release;  ///< empty: it cannot be told
  std::string how;      ///< what tells it, or why nothing does
};

/// By the first of these that is there: systemd-boot's loader.conf and entries, GRUB's grub.cfg and grubenv, Debian's
/// and SUSE's link vmlinuz; else the newest kernel in /lib/modules, as boot loaders take it.
NextBoot next_boot(const Host& host);

}  // namespace slipway::driver
