// SPDX-License-Identifier: Apache-2.0
// Event sets of the system: a driver was bound to a GPU, or unbound from it.
#include <cstdlib>

#include "nvidia/nvml/abi/event.h"
#include "sim/nvml/call.hpp"
#include "sim/state/events.hpp"

struct nvmlSystemEventSet_st {
  unsigned long long types;
  std::uint64_t seen;  ///< number of the last event that was returned or skipped
};

namespace slipway::sim {
namespace {

constexpr unsigned long long kSystemEvents = NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND | NVML_SYSTEM_EVENT_GPU_DRIVER_BIND;

/// Returns the GPU's place on the bus in the resource manager's form: domain, bus, device.
unsigned gpu_id(const Gpu& gpu) { return gpu.domain << 16U | gpu.bus << 8U | gpu.device; }

/// Runs `body(machine)` if the request has the version of this layout.
template <class Request, class Body>
nvmlReturn_t with_request(Function function, const Request* request, Body body) {
  return with_machine(function, [=](Machine& machine) -> nvmlReturn_t {
    if (request == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    if (request->version != NVML_STRUCT_VERSION(Request, 1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    return body(machine);
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t* request) {
  return with_request(Function::nvmlSystemEventSetCreate, request, [=](Machine& machine) -> nvmlReturn_t {
    auto* const set = static_cast<nvmlSystemEventSet_t>(calloc(1, sizeof(nvmlSystemEventSet_st)));
    if (set == nullptr) return NVML_ERROR_MEMORY;
    set->seen = machine.last_event;
    request->set = set;
    return NVML_SUCCESS;
  });
}

// Its memory belongs to this process, whether the driver answers or not.
SLIPWAY_NVML_EXPORT nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t* request) {
  nvmlSystemEventSet_t set = nullptr;
  if (request != nullptr && request->version == NVML_SYSTEM_EVENT_SET_FREE_REQUEST_VERSION) set = request->set;
  const nvmlReturn_t code = with_request(Function::nvmlSystemEventSetFree, request, [=](Machine&) -> nvmlReturn_t {
    return set == nullptr ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
  });
  free(set);
  return code;
}

SLIPWAY_NVML_EXPORT nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t* request) {
  return with_request(Function::nvmlSystemRegisterEvents, request, [=](Machine& machine) -> nvmlReturn_t {
    nvmlSystemEventSet_t const set = request->set;
    if (set == nullptr || (request->eventTypes & ~kSystemEvents) != 0) return NVML_ERROR_INVALID_ARGUMENT;
    if (set->types == 0) set->seen = machine.last_event;
    set->types |= request->eventTypes;
    return NVML_SUCCESS;
  });
}

SLIPWAY_NVML_EXPORT nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t* request) {
  Call call(Function::nvmlSystemEventSetWait);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  if (request == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (request->version != NVML_SYSTEM_EVENT_SET_WAIT_REQUEST_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  nvmlSystemEventSet_t const set = request->set;
  if (set == nullptr || request->data == nullptr || request->dataSize == 0) return NVML_ERROR_INVALID_ARGUMENT;
  const timespec deadline = deadline_after(request->timeoutms);
  request->numEvent = 0;
  for (;;) {
    const auto wanted = [set](const Event& each) { return each.system != 0 && (set->types & each.type) != 0; };
    while (request->numEvent < request->dataSize) {
      const Event* const event = next_event(call.machine(), set->seen, wanted);
      if (event == nullptr) break;
      request->data[request->numEvent++] = {event->type, gpu_id(call.machine().gpus[event->gpu])};
    }
    if (request->numEvent > 0) return NVML_SUCCESS;
    if (call.machine().driver != Driver::loaded) return NVML_ERROR_UNKNOWN;
    if (request->timeoutms == 0 || !call.wait_for_change(&deadline)) return NVML_ERROR_TIMEOUT;
  }
}
