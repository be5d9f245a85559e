// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/terminate.hpp - ends processes that hold a GPU: SIGTERM, and SIGKILL after the grace.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "nvidia/drain/holders.hpp"

namespace slipway::nvidia::drain {

/// A process that is still there, and why.
struct Remaining {
  DeviceHolder holder;
  std::string why;
};

/// Those that must not or cannot be ended, and why. Nobody is signalled.
std::vector<Remaining> find_unendable(const Host& host, const std::vector<DeviceHolder>& holders);

/// Ends all of them at once, or nobody where one of them must not or cannot be ended. Returns when all have ended, at
/// the latest some seconds after the grace.
///
/// A signal goes to exactly the process that was found, through a pidfd and by its start time, never to one that has
/// got its pid since, and never to process 1, a thread of the kernel or slipway's own, nor to one that is not a user of
/// the driver (DriverUsers). On a simulated machine only processes that run on this one can be ended.
std::vector<Remaining> terminate(const Host& host, const std::vector<DeviceHolder>& holders,
                                 std::chrono::seconds grace);

}  // namespace slipway::nvidia::drain
