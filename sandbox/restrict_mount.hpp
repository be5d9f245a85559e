// SPDX-License-Identifier: Apache-2.0
// sandbox/restrict_mount.hpp - what can no longer be done with what is mounted at a place.
#pragma once

#include <cstdint>
#include <string>

namespace slipway::core {

/// Adds MOUNT_ATTR_RDONLY and the like, and MOUNT_ATTR_NOSUID, to what is mounted there and to all that is mounted
/// below it: by mount_setattr(2), and where the kernel has none (before Linux 5.12) or refuses it, by mounting each
/// anew with its own flags and these. With MOUNT_ATTR_NODEV, no device is behind a node there: it is a file like
/// others.
/// @return 0, or the errno of the first that could not be restricted
int restrict_mount(const std::string& place, std::uint64_t attributes);

}  // namespace slipway::core
