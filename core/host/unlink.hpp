// SPDX-License-Identifier: Apache-2.0
// core/host/unlink.hpp - unlinkat(2) for names that may be gone already.
#pragma once

#include <string>

namespace slipway::core {

/// As unlinkat(2), but a name that is not there is ENOENT in a read-only filesystem too, where the kernel says EROFS
/// before it looks: bringing a read-only folder back to what it is needs no change.
int unlink_name(int folder, const std::string& name, int flags);

}  // namespace slipway::core
