// SPDX-License-Identifier: Apache-2.0
// sandbox/mounts.hpp - what a program in a sandbox sees as its file system.
#pragma once

#include "sandbox/inside.hpp"

namespace slipway::core {

/// Called in a mount namespace that nobody else uses, as process 1 of its process namespace. Afterwards "/" is the
/// request's root. @return a report with empty text when all went well
SandboxReport make_sandbox_mounts(const Sandbox& request);

}  // namespace slipway::core
