// SPDX-License-Identifier: Apache-2.0
// sim/nvml/cost.hpp - a call that takes what it takes of the real driver: processor time, wall time and memory.
#pragma once

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// Burns the processor time, and sleeps for what the wall time is longer. What the simulator needs for a call anyway is
/// part of it.
void spend(const Cost& cost);

/// Takes memory that is written to once and stays this process's until it ends, as NVML's own does.
void keep_memory(std::uint32_t kib);

}  // namespace slipway::sim
