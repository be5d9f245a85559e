// SPDX-License-Identifier: Apache-2.0
// sim/nvml/mig/call.hpp - calls about MIG instances that only an administrator may make.
#pragma once

#include "sim/nvml/call.hpp"

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

}  // namespace slipway::sim
