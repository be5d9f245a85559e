// SPDX-License-Identifier: Apache-2.0
// sim/nvml/mig_call.hpp - faults of calls about MIG instances, and the UUIDs of MIG devices.
#pragma once

#include <cstddef>

#include "sim/nvml/call.hpp"
#include "sim/state/machine.hpp"

namespace slipway::sim {

/// A fault that happens so many times: true, and one less, while there is one left.
inline bool spend(std::uint32_t& times) { return times > 0 && times-- > 0; }

/// "MIG-8-4-4-4-12", derived from the GPU's UUID and the ids of both instances, as the driver's own are (they do not
/// hold the profile, so one that was made anew may bear the old name).
void mig_uuid(const Gpu& gpu, const GpuInstance& instance, const ComputeInstance& compute, char* text,
              std::size_t size);

}  // namespace slipway::sim
