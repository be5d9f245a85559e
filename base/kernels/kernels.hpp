// SPDX-License-Identifier: Apache-2.0
// base/kernels/kernels.hpp - the order of kernel releases, and the kernel that a root boots next
// according to its boot loader's files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::base {

/// Returns a key that sorts releases in numeric order: 6.1.0-9 before 6.1.0-10.
std::vector<std::string> kernel_key(std::string_view release);

/// Sorts releases, the newest first.
void sort_newest_first(std::vector<std::string>& releases);

struct NextBoot {
  std::string release;  ///< empty: unknown
  std::string how;      ///< the source of the answer, or the reason why there is none
};

/// Uses the first of these that exists: systemd-boot's loader.conf and entries, GRUB's grub.cfg and grubenv, the link
/// vmlinuz of Debian and SUSE; else the newest kernel in /lib/modules, which boot loaders prefer.
NextBoot next_boot(const Host& host);

}  // namespace slipway::base
