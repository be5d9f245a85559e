// SPDX-License-Identifier: Apache-2.0
// Memory, utilisation, clocks, power, heat.
#include <cstring>

#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/abi/sample.h"
#include "sim/nvml/call.hpp"
#include "sim/nvml/load.hpp"

namespace slipway::sim {
namespace {

/// Bytes of a GPU, or of a MIG device's GPU instance.
struct Amounts {
  std::uint64_t total, reserved, used;
};

Amounts amounts_of(const Machine& machine, const Target& target) {
  const Gpu& gpu = *target.gpu;
  if (target.kind != Kind::mig_device)
    return {gpu.model.memory_mib << 20U, gpu.model.reserved_mib << 20U, memory_used(machine, target.gpu_index)};
  std::uint64_t used = 0;
  for (const Process& process : machine.processes)
    if (process.used != 0 && process.gpu == target.gpu_index && process.gpu_instance == target.instance->id)
      used += process.memory_bytes;
  return {gpu.model.mig.profiles[target.instance->profile].memory_mib << 20U, 0, used};
}

nvmlReturn_t clock_of(Function function, nvmlDevice_t device, unsigned domain, unsigned* clock, bool most) {
  return with_gpu(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (domain > 3) return NVML_ERROR_INVALID_ARGUMENT;
    return give(clock, most ? gpu.model.clock_max[domain] : clock_now(gpu, domain));
  });
}

nvmlReturn_t reasons(Function function, nvmlDevice_t device, unsigned long long* bits) {
  return with_gpu(function, device, [=](Gpu& gpu) { return give(bits, gpu.load_percent == 0 ? 0x1U : 0x0U); });
}

nvmlReturn_t media(Function function, nvmlDevice_t device, unsigned* percent, unsigned* period_us) {
  return with_gpu(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.mig_current != 0) return kNotSupported;
    return give(percent, 0, period_us, 167000);
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return with_target(Function::nvmlDeviceGetMemoryInfo, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (memory == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       if (target.gpu->model.integrated != 0) return kNotSupported;
                       const Amounts amounts = amounts_of(machine, target);
                       memory->total = amounts.total;
                       memory->used = amounts.reserved + amounts.used;
                       memory->free = memory->total - memory->used;
                       return NVML_SUCCESS;
                     });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  return with_target(Function::nvmlDeviceGetMemoryInfo_v2, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (memory == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       if (memory->version != NVML_STRUCT_VERSION(nvmlMemory_v2_t, 2))
                         return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
                       if (target.gpu->model.integrated != 0) return kNotSupported;
                       const Amounts amounts = amounts_of(machine, target);
                       memory->total = amounts.total;
                       memory->reserved = amounts.reserved;
                       memory->used = amounts.used;
                       memory->free = amounts.total - amounts.reserved - amounts.used;
                       return NVML_SUCCESS;
                     });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* memory) {
  return with_any_device(Function::nvmlDeviceGetBAR1MemoryInfo, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (memory == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    memory->bar1Total = gpu.model.bar1_mib << 20U;
    memory->bar1Used = 1U << 20U;
    memory->bar1Free = memory->bar1Total - memory->bar1Used;
    return NVML_SUCCESS;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* width) {
  return with_gpu(Function::nvmlDeviceGetMemoryBusWidth, device,
                  [=](Gpu& gpu) { return give(width, gpu.model.bus_width); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  return with_target(Function::nvmlDeviceGetUtilizationRates, device,
                     [=](Machine&, const Target& target) -> nvmlReturn_t {
                       if (target.kind != Kind::gpu || target.gpu->mig_current != 0) return kNotSupported;
                       if (rates == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       rates->gpu = utilisation_now(*target.gpu);
                       rates->memory = rates->gpu / 2;
                       return NVML_SUCCESS;
                     });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* percent, unsigned* period_us) {
  return media(Function::nvmlDeviceGetEncoderUtilization, device, percent, period_us);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* percent, unsigned* period_us) {
  return media(Function::nvmlDeviceGetDecoderUtilization, device, percent, period_us);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned* percent, unsigned* period_us) {
  return media(Function::nvmlDeviceGetJpgUtilization, device, percent, period_us);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned* percent, unsigned* period_us) {
  return media(Function::nvmlDeviceGetOfaUtilization, device, percent, period_us);
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned* sessions, unsigned* fps,
                                              unsigned* latency) {
  return with_gpu(Function::nvmlDeviceGetEncoderStats, device, [=](Gpu&) -> nvmlReturn_t {
    if (latency == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *latency = 0;
    return give(sessions, 0, fps, 0);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned domain, unsigned* clock) {
  return clock_of(Function::nvmlDeviceGetClockInfo, device, domain, clock, false);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned domain, unsigned* clock) {
  return clock_of(Function::nvmlDeviceGetMaxClockInfo, device, domain, clock, true);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetClock(nvmlDevice_t device, unsigned domain, unsigned id, unsigned* clock) {
  return clock_of(Function::nvmlDeviceGetClock, device, domain, clock, id != 0);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, unsigned domain, unsigned* clock) {
  return clock_of(Function::nvmlDeviceGetMaxCustomerBoostClock, device, domain, clock, true);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetApplicationsClock(nvmlDevice_t device, unsigned domain, unsigned* clock) {
  return clock_of(Function::nvmlDeviceGetApplicationsClock, device, domain, clock, true);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, unsigned domain, unsigned* clock) {
  return clock_of(Function::nvmlDeviceGetDefaultApplicationsClock, device, domain, clock, true);
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned* count, unsigned* clocks) {
  return with_gpu(Function::nvmlDeviceGetSupportedMemoryClocks, device, [=](Gpu& gpu) {
    return give_list(count, clocks, 1, [&gpu](unsigned) { return gpu.model.clock_max[2]; });
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned memory_clock, unsigned* count,
                                                         unsigned* clocks) {
  return with_gpu(Function::nvmlDeviceGetSupportedGraphicsClocks, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (memory_clock != gpu.model.clock_max[2]) return NVML_ERROR_NOT_FOUND;
    constexpr unsigned kStep = 15;  // MHz, from the highest down
    const unsigned steps = (gpu.model.clock_max[0] - gpu.model.clock_idle[0]) / kStep + 1;
    return give_list(count, clocks, steps, [&gpu](unsigned i) { return gpu.model.clock_max[0] - i * kStep; });
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetPerformanceState(nvmlDevice_t device, unsigned* state) {
  return with_gpu(Function::nvmlDeviceGetPerformanceState, device, [=](Gpu& gpu) {
    const unsigned idle =
        gpu.model.architecture >= 7 || gpu.model.links > 0 ? 0U : 8U;  // data center boards stay in P0
    return give(state, gpu.load_percent > 0 ? 0U : idle);
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetPowerState(nvmlDevice_t device, unsigned* state) {
  return with_gpu(Function::nvmlDeviceGetPowerState, device, [=](Gpu&) { return give(state, 0); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* bits) {
  return reasons(Function::nvmlDeviceGetCurrentClocksEventReasons, device, bits);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* bits) {
  return reasons(Function::nvmlDeviceGetCurrentClocksThrottleReasons, device, bits);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long* bits) {
  return with_gpu(Function::nvmlDeviceGetSupportedClocksThrottleReasons, device,
                  [=](Gpu&) { return give(bits, 0x1ffU); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, unsigned long long* bits) {
  return with_gpu(Function::nvmlDeviceGetSupportedClocksEventReasons, device, [=](Gpu&) { return give(bits, 0x1ffU); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetViolationStatus(nvmlDevice_t device, unsigned policy, nvmlViolationTime_t* time) {
  return with_gpu(Function::nvmlDeviceGetViolationStatus, device, [=](Gpu&) -> nvmlReturn_t {
    if (policy > 11 || time == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *time = {static_cast<unsigned long long>(now_ns() / 1000), 0};
    return NVML_SUCCESS;
  });
}
