// SPDX-License-Identifier: Apache-2.0
// Modes that an administrator sets, and their current values.
#include <cstring>

#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/abi/vgpu.h"
#include "sim/nvml/call.hpp"

namespace slipway::sim {
namespace {

/// Sets a member of Gpu to 0 or 1.
nvmlReturn_t set_flag(Function function, nvmlDevice_t device, std::uint32_t Gpu::*member, unsigned value) {
  return change_gpu(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (value > 1) return NVML_ERROR_INVALID_ARGUMENT;
    gpu.*member = value;
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetPersistenceMode(nvmlDevice_t device, unsigned* mode) {
  return with_any_device(Function::nvmlDeviceGetPersistenceMode, device,
                         [=](Gpu& gpu) { return give(mode, gpu.persistence); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetPersistenceMode(nvmlDevice_t device, unsigned mode) {
  return set_flag(Function::nvmlDeviceSetPersistenceMode, device, &Gpu::persistence, mode);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetComputeMode(nvmlDevice_t device, unsigned* mode) {
  return with_any_device(Function::nvmlDeviceGetComputeMode, device,
                         [=](Gpu& gpu) { return give(mode, gpu.compute_mode); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetComputeMode(nvmlDevice_t device, unsigned mode) {
  return change_gpu(Function::nvmlDeviceSetComputeMode, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (mode > 3 || mode == 1) return NVML_ERROR_INVALID_ARGUMENT;  // exclusive thread no longer exists
    gpu.compute_mode = mode;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetAccountingMode(nvmlDevice_t device, unsigned* mode) {
  return with_gpu(Function::nvmlDeviceGetAccountingMode, device,
                  [=](Gpu& gpu) { return give(mode, gpu.mig_current != 0 ? 0 : gpu.accounting); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetAccountingMode(nvmlDevice_t device, unsigned mode) {
  return set_flag(Function::nvmlDeviceSetAccountingMode, device, &Gpu::accounting, mode);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned* size) {
  return with_gpu(Function::nvmlDeviceGetAccountingBufferSize, device, [=](Gpu&) { return give(size, 4000); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned* count, unsigned* pids) {
  return with_gpu(Function::nvmlDeviceGetAccountingPids, device,
                  [=](Gpu&) { return give_list(count, pids, 0, [](unsigned) { return 0U; }); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned least, unsigned most) {
  return change_gpu(Function::nvmlDeviceSetGpuLockedClocks, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (least > most || most > gpu.model.clock_max[0]) return NVML_ERROR_INVALID_ARGUMENT;
    gpu.locked_clock_min = least;
    gpu.locked_clock_max = most;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device) {
  return change_gpu(Function::nvmlDeviceResetGpuLockedClocks, device, [](Gpu& gpu) -> nvmlReturn_t {
    gpu.locked_clock_min = gpu.locked_clock_max = 0;
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetDisplayMode(nvmlDevice_t device, unsigned* mode) {
  return with_gpu(Function::nvmlDeviceGetDisplayMode, device, [=](Gpu&) { return give(mode, 0); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetDisplayActive(nvmlDevice_t device, unsigned* active) {
  return with_gpu(Function::nvmlDeviceGetDisplayActive, device, [=](Gpu&) { return give(active, 0); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, unsigned* mode) {
  return with_gpu(Function::nvmlDeviceGetVirtualizationMode, device,
                  [=](Gpu& gpu) { return give(mode, gpu.virtualization); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetAPIRestriction(nvmlDevice_t device, unsigned, unsigned* restricted) {
  return with_gpu(Function::nvmlDeviceGetAPIRestriction, device, [=](Gpu&) { return give(restricted, 1); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device, nvmlGridLicensableFeatures_t* all) {
  return with_gpu(Function::nvmlDeviceGetGridLicensableFeatures_v4, device, [=](Gpu&) -> nvmlReturn_t {
    if (all == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    memset(all, 0, sizeof *all);
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t* caps) {
  return with_machine(Function::nvmlSystemGetConfComputeCapabilities, [=](Machine&) -> nvmlReturn_t {
    if (caps == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *caps = {0, 0};
    return NVML_SUCCESS;
  });
}
SLIPWAY_NVML_EXPORT nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* state) {
  return with_machine(Function::nvmlSystemGetConfComputeState, [=](Machine&) -> nvmlReturn_t {
    if (state == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *state = {0, 0, 0};
    return NVML_SUCCESS;
  });
}
