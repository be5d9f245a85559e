// SPDX-License-Identifier: Apache-2.0
// Event sets: the events of GPUs since their registration.
#include <cstdlib>

#include "nvidia/nvml/abi/event.h"
#include "sim/nvml/call.hpp"
#include "sim/state/events.hpp"

struct nvmlEventSet_st {
  unsigned long long types[slipway::sim::kMaxGpus];
  std::uint64_t seen;  ///< number of the last event that was returned or skipped
};

namespace slipway::sim {
namespace {

bool any_gpu_lost(const Machine& machine, const nvmlEventSet_st& set) {
  for (unsigned i = 0; i < machine.gpu_count; ++i)
    if (set.types[i] != 0 && machine.gpus[i].faults.lost != 0) return true;
  return false;
}

nvmlReturn_t wait(Function function, nvmlEventSet_t set, nvmlEventData_t* data, unsigned milliseconds, bool instances) {
  Call call(function);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  if (set == nullptr || data == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const timespec deadline = deadline_after(milliseconds);
  for (;;) {
    const Event* const event = next_event(call.machine(), set->seen, [set](const Event& each) {
      return each.system == 0 && (set->types[each.gpu] & each.type) != 0;
    });
    if (event != nullptr) {
      data->device = static_cast<nvmlDevice_t>(make_handle(call.machine(), Kind::gpu, event->gpu));
      data->eventType = event->type;
      data->eventData = event->data;
      if (instances) data->gpuInstanceId = event->gpu_instance;
      if (instances) data->computeInstanceId = event->compute_instance;
      return NVML_SUCCESS;
    }
    if (any_gpu_lost(call.machine(), *set)) return NVML_ERROR_GPU_IS_LOST;
    if (call.machine().driver != Driver::loaded) return NVML_ERROR_UNKNOWN;
    // A signal ends the wait, as in the real library.
    if (milliseconds == 0 || !call.wait_for_change(&deadline)) return NVML_ERROR_TIMEOUT;
  }
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlEventSetCreate(nvmlEventSet_t* set) {
  return with_machine(Function::nvmlEventSetCreate, [=](Machine& machine) -> nvmlReturn_t {
    if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *set = static_cast<nvmlEventSet_t>(calloc(1, sizeof(nvmlEventSet_st)));
    if (*set == nullptr) return NVML_ERROR_MEMORY;
    (*set)->seen = machine.last_event;  // earlier events are not reported
    return NVML_SUCCESS;
  });
}

// Its memory belongs to this process, whether the driver answers or not.
SLIPWAY_NVML_EXPORT nvmlEventSetFree(nvmlEventSet_t set) {
  const nvmlReturn_t code = with_machine(Function::nvmlEventSetFree, [=](Machine&) -> nvmlReturn_t {
    return set == nullptr ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
  });
  free(set);
  return code;
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* types) {
  return with_target(Function::nvmlDeviceGetSupportedEventTypes, device, [=](Machine& machine, const Target& target) {
    return give(types, target.kind == Kind::gpu ? supported_events(machine, *target.gpu) : 0ULL);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
  return with_target(Function::nvmlDeviceRegisterEvents, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (target.kind != Kind::gpu) return NVML_ERROR_INVALID_ARGUMENT;
                       if (set == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       if ((types & ~supported_events(machine, *target.gpu)) != 0) return NVML_ERROR_NOT_SUPPORTED;
                       // Events before the first registration are not reported.
                       bool first = true;
                       for (const unsigned long long existing : set->types) first = first && existing == 0;
                       if (first) set->seen = machine.last_event;
                       set->types[target.gpu_index] |= types;
                       return NVML_SUCCESS;
                     });
}

SLIPWAY_NVML_EXPORT nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned milliseconds) {
  return wait(Function::nvmlEventSetWait, set, data, milliseconds, false);
}
SLIPWAY_NVML_EXPORT nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned milliseconds) {
  return wait(Function::nvmlEventSetWait_v2, set, data, milliseconds, true);
}
