// SPDX-License-Identifier: Apache-2.0
// The MIG mode: changes that apply at once, that wait for a reset, or that are refused.
#include "nvidia/nvml/abi/mig.h"
#include "nvidia/nvml/abi/sample.h"
#include "sim/nvml/call.hpp"
#include "sim/state/events.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

bool busy(const Machine& machine, unsigned gpu) {
  for (const Process& process : machine.processes)
    if (process.used != 0 && process.gpu == gpu) return true;
  return false;
}

bool has_instances(const Gpu& gpu) {
  for (const GpuInstance& instance : gpu.instances)
    if (instance.used != 0) return true;
  return false;
}

/// Returns the immediate result of a request for `mode`.
nvmlReturn_t activate(Machine& machine, unsigned index, unsigned mode) {
  Gpu& gpu = machine.gpus[index];
  gpu.mig_pending = mode;
  if (mode == gpu.mig_current) return NVML_SUCCESS;
  if (busy(machine, index) || has_instances(gpu)) return NVML_ERROR_IN_USE;
  if (gpu.faults.no_reset != 0 && gpu.model.mig.resetless == 0) return NVML_ERROR_RESET_REQUIRED;
  if (gpu.faults.sticky_mig_mode != 0) return NVML_SUCCESS;  // reports success, and stays pending
  gpu.mig_current = mode;
  if (mode != 0) gpu.accounting = 0;
  add_event(machine, index, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
  return NVML_SUCCESS;
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  return with_gpu(Function::nvmlDeviceGetMigMode, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.mig.capable == 0) return NVML_ERROR_NOT_SUPPORTED;
    return give(current, gpu.mig_current, pending, gpu.mig_pending);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned mode, nvmlReturn_t* activation) {
  Call call(Function::nvmlDeviceSetMigMode);
  if (call.ready() != NVML_SUCCESS) return call.ready();
  Target target;
  const nvmlReturn_t found = call.find(device, &target);
  if (found != NVML_SUCCESS) return found;
  if (target.kind != Kind::gpu || mode > 1 || activation == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (call.privileged() != NVML_SUCCESS) return NVML_ERROR_NO_PERMISSION;
  if (target.gpu->model.mig.capable == 0 || target.gpu->virtualization == 2) return NVML_ERROR_NOT_SUPPORTED;
  *activation = activate(call.machine(), target.gpu_index, mode);
  return NVML_SUCCESS;
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned* count) {
  return with_gpu(Function::nvmlDeviceGetMaxMigDeviceCount, device,
                  [=](Gpu& gpu) { return give(count, gpu.mig_current != 0 ? gpu.model.mig.compute_slices : 0); });
}
