// SPDX-License-Identifier: Apache-2.0
// GPU instances: how they are created, listed and destroyed.
#include "nvidia/nvml/abi/mig.h"
#include "nvidia/nvml/abi/sample.h"
#include "sim/nvml/call.hpp"
#include "sim/state/events.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

bool legal(const MigProfile& profile, const nvmlGpuInstancePlacement_t& placement) {
  for (unsigned i = 0; i < profile.start_count; ++i)
    if (profile.starts[i] == placement.start && profile.size == placement.size) return true;
  return false;
}

bool whole_gpu_in_use(const Machine& machine, unsigned gpu) {
  for (const Process& process : machine.processes)
    if (process.used != 0 && process.gpu == gpu && process.gpu_instance == NVML_NO_INSTANCE && process.kind != 3)
      return true;
  return false;
}

nvmlReturn_t create(Function function, nvmlDevice_t device, unsigned id, const nvmlGpuInstancePlacement_t* placement,
                    nvmlGpuInstance_t* made) {
  if (made == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return change_target(function, device, Kind::gpu, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
    Gpu& gpu = *target.gpu;
    if (gpu.mig_current == 0 || gpu.virtualization == 2) return NVML_ERROR_NOT_SUPPORTED;
    const int index = profile_by_id(gpu.model.mig, id);
    if (index < 0) return NVML_ERROR_NOT_SUPPORTED;
    const auto profile = static_cast<unsigned>(index);
    if (placement != nullptr && !legal(gpu.model.mig.profiles[profile], *placement)) return NVML_ERROR_INVALID_ARGUMENT;
    if (whole_gpu_in_use(machine, target.gpu_index)) return NVML_ERROR_IN_USE;
    if (spend(gpu.faults.create_fails)) return NVML_ERROR_INSUFFICIENT_RESOURCES;
    int code = NVML_SUCCESS;
    const int start = placement != nullptr ? static_cast<int>(placement->start) : -1;
    const GpuInstance* instance = create_instance(gpu, profile, start, machine.lowest_placement != 0, &code);
    if (instance == nullptr) return code;
    add_event(machine, target.gpu_index, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
    *made = static_cast<nvmlGpuInstance_t>(
        make_handle(machine, Kind::gpu_instance, target.gpu_index, instance_slot(gpu, instance)));
    return NVML_SUCCESS;
  });
}

nvmlGpuInstance_t handle_of(const Machine& machine, const Target& target, const GpuInstance& instance) {
  return static_cast<nvmlGpuInstance_t>(
      make_handle(machine, Kind::gpu_instance, target.gpu_index, instance_slot(*target.gpu, &instance)));
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned id, nvmlGpuInstance_t* instance) {
  return create(Function::nvmlDeviceCreateGpuInstance, device, id, nullptr, instance);
}

SLIPWAY_NVML_EXPORT nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned id,
                                                             const nvmlGpuInstancePlacement_t* placement,
                                                             nvmlGpuInstance_t* instance) {
  if (placement == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return create(Function::nvmlDeviceCreateGpuInstanceWithPlacement, device, id, placement, instance);
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceDestroy(nvmlGpuInstance_t instance) {
  return change_target(
      Function::nvmlGpuInstanceDestroy, instance, Kind::gpu_instance,
      [](Machine& machine, const Target& target) -> nvmlReturn_t {
        if (spend(target.gpu->faults.destroy_in_use)) return NVML_ERROR_IN_USE;
        for (const ComputeInstance& compute : target.instance->compute)
          if (compute.used != 0) return NVML_ERROR_IN_USE;
        for (const Process& process : machine.processes)
          if (process.used != 0 && process.gpu == target.gpu_index && process.gpu_instance == target.instance->id)
            return NVML_ERROR_IN_USE;
        *target.instance = GpuInstance{};
        add_event(machine, target.gpu_index, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
        return NVML_SUCCESS;
      });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned id, nvmlGpuInstance_t* list,
                                              unsigned* count) {
  return change_target(Function::nvmlDeviceGetGpuInstances, device, Kind::gpu,
                       [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                         if (target.gpu->mig_current == 0) return NVML_ERROR_NOT_SUPPORTED;
                         const int index = profile_by_id(target.gpu->model.mig, id);
                         if (index < 0 || list == nullptr || count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                         unsigned existing = 0;
                         // In the order of their ids.
                         for (std::uint32_t wanted = 0; wanted <= 14; ++wanted)
                           for (const GpuInstance& each : target.gpu->instances)
                             if (each.used != 0 && each.id == wanted && each.profile == static_cast<unsigned>(index))
                               list[existing++] = handle_of(machine, target, each);
                         *count = existing;
                         return NVML_SUCCESS;
                       });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned id, nvmlGpuInstance_t* instance) {
  return change_target(Function::nvmlDeviceGetGpuInstanceById, device, Kind::gpu,
                       [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                         if (target.gpu->mig_current == 0) return NVML_ERROR_NOT_SUPPORTED;
                         for (const GpuInstance& each : target.gpu->instances)
                           if (each.used != 0 && each.id == id) return give(instance, handle_of(machine, target, each));
                         return NVML_ERROR_NOT_FOUND;
                       });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetInfo(nvmlGpuInstance_t instance, nvmlGpuInstanceInfo_t* info) {
  return with_target(Function::nvmlGpuInstanceGetInfo, instance,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (target.kind != Kind::gpu_instance || info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       info->device = static_cast<nvmlDevice_t>(make_handle(machine, Kind::gpu, target.gpu_index));
                       info->id = target.instance->id;
                       info->profileId = target.gpu->model.mig.profiles[target.instance->profile].id;
                       info->placement = {target.instance->start, target.instance->size};
                       return NVML_SUCCESS;
                     });
}
