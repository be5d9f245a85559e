// SPDX-License-Identifier: Apache-2.0
// sandbox/restrict_mount.hpp - restricts existing mounts: read-only, no devices, no setuid.
#pragma once

#include <cstdint>
#include <string>

namespace slipway::sandbox {

/// Adds MOUNT_ATTR_RDONLY and similar, and MOUNT_ATTR_NOSUID, to the mount at a place and to all mounts below it: with
/// mount_setattr(2), and when the kernel lacks it (before Linux 5.12) or refuses it, by remounting each with its own
/// flags and these. With MOUNT_ATTR_NODEV, device nodes there are files without a device.
/// @return 0, or the errno of the first mount that could not be restricted
int restrict_mount(const std::string& place, std::uint64_t attributes);

}  // namespace slipway::sandbox
