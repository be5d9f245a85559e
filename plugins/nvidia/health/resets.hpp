// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/resets.hpp - resets of GPUs that `slipway pause` ran, by the commands that it records.
//
// No driver tells of a reset, and the services that watch the GPUs have released them meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nvidia/health/shared.hpp"

namespace slipway::nvidia::health {

/// The GPUs that a command resets, as nvidia-smi's -i names them: numbers, UUIDs, PCI addresses; an empty list: all.
/// Nothing: it is not `nvidia-smi -r`.
std::optional<std::vector<std::string>> gpus_reset_by(const std::vector<std::string>& command);

/// Adds kPausePart: what the resets that succeeded have ended, for each GPU that the parts name.
SharedHealth with_resets(const RootDir& root, SharedHealth parts);

}  // namespace slipway::nvidia::health
