// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/resets.hpp - resets of GPUs that `slipway pause` ran, by the commands that it records.
//
// Drivers do not report resets, and the services that watch the GPUs have released them in the meantime.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nvidia/health/shared_health.hpp"

namespace slipway::nvidia::health {

/// Returns the GPUs that a command resets, in the words of nvidia-smi's -i: numbers, UUIDs, PCI addresses; an empty
/// list: all. Empty: the command is not `nvidia-smi -r`.
std::optional<std::vector<std::string>> gpus_reset_by(const std::vector<std::string>& command);

/// Adds kPausePart: the faults that successful resets have ended, for each GPU in the parts.
SharedHealth with_resets(const RootDir& root, SharedHealth parts);

}  // namespace slipway::nvidia::health
