// SPDX-License-Identifier: Apache-2.0
// sim/state/mig_uuid.hpp - the UUIDs of MIG devices.
#pragma once

#include <cstddef>

#include "sim/state/machine.hpp"

namespace slipway::sim {

/// "MIG-8-4-4-4-12", derived from the GPU's UUID and the ids of both instances, like the driver's (the profile is not
/// included, so a new instance may get the former UUID).
void mig_uuid(const Gpu& gpu, const GpuInstance& instance, const ComputeInstance& compute, char* text,
              std::size_t size);

}  // namespace slipway::sim
