// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/terminate.hpp - ends processes that hold a GPU: SIGTERM, and SIGKILL after the grace.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "nvidia/drain/holders.hpp"

namespace slipway::nvidia::drain {

/// A process that is still running, and why.
struct Remaining {
  DeviceHolder holder;
  std::string why;
};

/// Returns those that must not or cannot be ended, and why. Sends no signal.
std::vector<Remaining> find_unendable(const Host& host, const std::vector<DeviceHolder>& holders);

/// Ends all of them at once, or none if one of them must not or cannot be ended. Returns when all have ended, at the
/// latest some seconds after the grace period.
///
/// A signal goes only to the process that was found, through a pidfd and checked by its start time, never to a later
/// process with the same pid, and never to process 1, a thread of the kernel or slipway's own, nor to a process that
/// does not use the driver (DriverUsers). On a simulated machine only processes that run on this one can be ended.
std::vector<Remaining> terminate(const Host& host, const std::vector<DeviceHolder>& holders,
                                 std::chrono::seconds grace);

}  // namespace slipway::nvidia::drain
