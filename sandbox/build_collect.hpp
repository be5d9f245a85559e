// SPDX-License-Identifier: Apache-2.0
// sandbox/build_collect.hpp - takes what a build made: stripped, signed, compressed, in that order.
#pragma once

#include "sandbox/build_room.hpp"

namespace slipway::core {

/// Fills the folder `request.into` with what `collect` of the build names. Errors: `build_failed` when a file is not
/// there, no module, or for another kernel; `not_found` without strip or the kernel's sign-file; `io`, `no_space`.
Status collect_results(const BuildRequest& request, const BuildRoom& room);

}  // namespace slipway::core
