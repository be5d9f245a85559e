// SPDX-License-Identifier: Apache-2.0
// The processes on a GPU.
#include <ctime>

#include "nvidia/nvml/abi/process.h"
#include "sim/nvml/call.hpp"

namespace slipway::sim {
namespace {

bool belongs(const Process& process, const Target& target, unsigned kind) {
  if (process.used == 0 || process.gpu != target.gpu_index || process.kind != kind) return false;
  if (target.kind == Kind::gpu) return true;
  return process.gpu_instance == target.instance->id && process.compute_instance == target.compute->id;
}

nvmlProcessInfo_v2_t info_of(const Process& process, const nvmlProcessInfo_v2_t*) {
  return {process.pid, process.memory_bytes, process.gpu_instance, process.compute_instance};
}

nvmlProcessInfo_v1_t info_of(const Process& process, const nvmlProcessInfo_v1_t*) {
  return {process.pid, process.memory_bytes};
}

template <class Info>
nvmlReturn_t list(Function function, nvmlDevice_t device, unsigned* count, Info* infos, unsigned kind) {
  return with_target(function, device, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
    if (target.kind != Kind::gpu && target.kind != Kind::mig_device) return NVML_ERROR_INVALID_ARGUMENT;
    const Process* those[kMaxProcesses];
    unsigned existing = 0;
    for (const Process& process : machine.processes)
      if (belongs(process, target, kind)) those[existing++] = &process;
    return give_list(count, infos, existing, [&](unsigned i) { return info_of(*those[i], infos); });
  });
}

/// The processes with a context share the GPU's load.
nvmlReturn_t utilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t* samples, unsigned* count,
                         unsigned long long last_seen) {
  return with_target(Function::nvmlDeviceGetProcessUtilization, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (target.kind != Kind::gpu || target.gpu->mig_current != 0) return NVML_ERROR_NOT_SUPPORTED;
                       timespec now{};
                       ::clock_gettime(CLOCK_REALTIME, &now);
                       const auto stamp = static_cast<unsigned long long>(now.tv_sec) * 1'000'000ULL;
                       const Process* those[kMaxProcesses];
                       unsigned existing = 0;
                       for (const Process& process : machine.processes)
                         if (process.kind < 3 && belongs(process, target, process.kind)) those[existing++] = &process;
                       if (existing == 0 || last_seen >= stamp) return NVML_ERROR_NOT_FOUND;
                       const unsigned each = target.gpu->load_percent / existing;
                       return give_list(count, samples, existing, [&](unsigned i) {
                         return nvmlProcessUtilizationSample_t{those[i]->pid, stamp, each, each / 2, 0, 0};
                       });
                     });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

#define SLIPWAY_PROCESS_LISTS(what, kind)                                                            \
  SLIPWAY_NVML_EXPORT nvmlDeviceGet##what##RunningProcesses(nvmlDevice_t device, unsigned* count,    \
                                                            nvmlProcessInfo_v1_t* infos) {           \
    return list(Function::nvmlDeviceGet##what##RunningProcesses, device, count, infos, kind);        \
  }                                                                                                  \
  SLIPWAY_NVML_EXPORT nvmlDeviceGet##what##RunningProcesses_v2(nvmlDevice_t device, unsigned* count, \
                                                               nvmlProcessInfo_v2_t* infos) {        \
    return list(Function::nvmlDeviceGet##what##RunningProcesses_v2, device, count, infos, kind);     \
  }                                                                                                  \
  SLIPWAY_NVML_EXPORT nvmlDeviceGet##what##RunningProcesses_v3(nvmlDevice_t device, unsigned* count, \
                                                               nvmlProcessInfo_v2_t* infos) {        \
    return list(Function::nvmlDeviceGet##what##RunningProcesses_v3, device, count, infos, kind);     \
  }

SLIPWAY_PROCESS_LISTS(Compute, 0)
SLIPWAY_PROCESS_LISTS(Graphics, 1)
SLIPWAY_PROCESS_LISTS(MPSCompute, 2)

SLIPWAY_NVML_EXPORT nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t* samples,
                                                    unsigned* count, unsigned long long last_seen) {
  return utilization(device, samples, count, last_seen);
}
