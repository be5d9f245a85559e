// SPDX-License-Identifier: Apache-2.0
// base/kernels/kernels.hpp - the order of kernel releases, and which kernel a root boots next, as far as
// its boot loader's files tell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway {

/// A key that sorts releases as people count: 6.1.0-9 before 6.1.0-10.
std::vector<std::string> kernel_key(std::string_view release);

/// Sorts releases, the newest first.
void sort_newest_first(std::vector<std::string>& releases);

struct NextBoot {
  std::string release;  ///< empty: it cannot be told
  std::string how;      ///< what tells it, or why nothing does
};

/// By the first of these that is there: systemd-boot's loader.conf and entries, GRUB's grub.cfg and grubenv, Debian's
/// and SUSE's link vmlinuz; else the newest kernel in /lib/modules, as boot loaders take it.
NextBoot next_boot(const Host& host);

}  // namespace slipway
