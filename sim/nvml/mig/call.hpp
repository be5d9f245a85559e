// SPDX-License-Identifier: Apache-2.0
// sim/nvml/mig/call.hpp - calls about MIG instances that only an administrator may make.
#pragma once

#include <cstddef>

#include "sim/nvml/call.hpp"
#include "sim/state/machine.hpp"

namespace slipway::sim {

/// `body(machine, target)` for a handle of that kind, when this process may change things.
template <class Body>
nvmlReturn_t change_mig(Function function, const void* handle, Kind kind, Body body) {
  Call call(function);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  Target target;
  const nvmlReturn_t found = call.find(handle, &target);
  if (found != NVML_SUCCESS) return found;
  if (target.kind != kind) return NVML_ERROR_INVALID_ARGUMENT;
  const nvmlReturn_t allowed = call.privileged();
  return allowed != NVML_SUCCESS ? allowed : body(call.machine(), target);
}

/// A fault that happens so many times: true, and one less, while there is one left.
inline bool spend(std::uint32_t& times) { return times > 0 && times-- > 0; }

/// "MIG-8-4-4-4-12", derived from the GPU's UUID and the ids of both instances, as the driver's own are (they do not
/// hold the profile, so one that was made anew may bear the old name).
void mig_uuid(const Gpu& gpu, const GpuInstance& instance, const ComputeInstance& compute, char* text,
              std::size_t size);

}  // namespace slipway::sim
