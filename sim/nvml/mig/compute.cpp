// SPDX-License-Identifier: Apache-2.0
// Compute instances: their profiles, and how they are created, listed and destroyed.
#include <cstdio>
#include <cstring>

#include "nvidia/nvml/abi/mig.h"
#include "nvidia/nvml/abi/sample.h"
#include "sim/nvml/call.hpp"
#include "sim/state/events.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

template <class Info>
void fill(Info* info, const Target& target, unsigned selector) {
  const MigModel& model = target.gpu->model.mig;
  const MigProfile& profile = model.profiles[target.instance->profile];
  info->id = selector;  // the common ids equal their selectors
  info->sliceCount = compute_slices(selector);
  info->instanceCount = profile.slices / info->sliceCount;
  info->multiprocessorCount = compute_multiprocessors(*target.instance, model, selector);
  info->sharedCopyEngineCount = profile.copy_engines;
  info->sharedDecoderCount = profile.decoders;
  info->sharedEncoderCount = profile.encoders;
  info->sharedJpegCount = profile.jpeg;
  info->sharedOfaCount = profile.ofa;
}

template <class Body>
nvmlReturn_t with_profile(Function function, nvmlGpuInstance_t instance, unsigned selector, unsigned engines,
                          Body body) {
  return with_target(function, instance, [&](Machine&, const Target& target) -> nvmlReturn_t {
    if (target.kind != Kind::gpu_instance || selector >= NVML_COMPUTE_INSTANCE_PROFILE_COUNT ||
        engines >= NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT)
      return NVML_ERROR_INVALID_ARGUMENT;
    const bool fits = compute_profile_fits(*target.instance, target.gpu->model.mig, selector);
    return fits ? body(target) : static_cast<nvmlReturn_t>(NVML_ERROR_NOT_SUPPORTED);
  });
}

nvmlReturn_t versioned(const Target& target, unsigned selector, void* info) {
  if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned version = 0;
  memcpy(&version, info, sizeof version);
  const bool second = version == NVML_STRUCT_VERSION(nvmlComputeInstanceProfileInfo_v2_t, 2);
  if (!second && version != NVML_STRUCT_VERSION(nvmlComputeInstanceProfileInfo_v3_t, 3))
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  auto* const common = static_cast<nvmlComputeInstanceProfileInfo_v2_t*>(info);  // the third layout only extends it
  fill(common, target, selector);
  const MigProfile& profile = target.gpu->model.mig.profiles[target.instance->profile];
  const std::uint32_t slices = compute_slices(selector);
  if (slices == profile.slices)
    snprintf(common->name, sizeof common->name, "MIG %s", profile.name);
  else
    snprintf(common->name, sizeof common->name, "MIG %uc.%s", slices, profile.name);
  if (!second) static_cast<nvmlComputeInstanceProfileInfo_v3_t*>(info)->capabilities = profile.graphics;
  return NVML_SUCCESS;
}

nvmlReturn_t create(Function function, nvmlGpuInstance_t instance, unsigned selector,
                    const nvmlComputeInstancePlacement_t* placement, nvmlComputeInstance_t* made) {
  if (made == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return change_target(
      function, instance, Kind::gpu_instance, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
        if (!compute_profile_fits(*target.instance, target.gpu->model.mig, selector)) return NVML_ERROR_NOT_SUPPORTED;
        if (spend(target.gpu->faults.create_fails)) return NVML_ERROR_INSUFFICIENT_RESOURCES;
        int code = NVML_SUCCESS;
        const int start = placement != nullptr ? static_cast<int>(placement->start) : -1;
        const ComputeInstance* compute = create_compute(*target.gpu, *target.instance, selector, start, &code);
        if (compute == nullptr) return code;
        add_event(machine, target.gpu_index, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
        *made = static_cast<nvmlComputeInstance_t>(make_handle(machine, Kind::compute_instance, target.gpu_index,
                                                               instance_slot(*target.gpu, target.instance),
                                                               compute_slot(*target.instance, compute)));
        return NVML_SUCCESS;
      });
}

nvmlComputeInstance_t handle_of(const Machine& machine, const Target& target, const ComputeInstance& compute) {
  return static_cast<nvmlComputeInstance_t>(make_handle(machine, Kind::compute_instance, target.gpu_index,
                                                        instance_slot(*target.gpu, target.instance),
                                                        compute_slot(*target.instance, &compute)));
}

nvmlReturn_t info_of(Function function, nvmlComputeInstance_t compute, nvmlComputeInstanceInfo_t* info,
                     bool with_placement) {
  return with_target(function, compute, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
    if (target.kind != Kind::compute_instance || info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const unsigned slot = instance_slot(*target.gpu, target.instance);
    info->device = static_cast<nvmlDevice_t>(
        make_handle(machine, Kind::mig_device, target.gpu_index, slot, compute_slot(*target.instance, target.compute)));
    info->gpuInstance =
        static_cast<nvmlGpuInstance_t>(make_handle(machine, Kind::gpu_instance, target.gpu_index, slot));
    info->id = target.compute->id;
    info->profileId = target.compute->selector;
    if (with_placement) info->placement = {target.compute->start, target.compute->size};
    return NVML_SUCCESS;
  });
}

/// A process that is listed without an instance may be on any; one that only has the GPU's node open is on none.
bool may_use(const Process& process, const Target& target) {
  if (process.used == 0 || process.gpu != target.gpu_index) return false;
  if (process.gpu_instance == NVML_NO_INSTANCE) return process.kind != 3;
  return process.gpu_instance == target.instance->id && process.compute_instance == target.compute->id;
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t instance, unsigned selector,
                                                                 unsigned engines,
                                                                 nvmlComputeInstanceProfileInfo_t* info) {
  return with_profile(Function::nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, selector, engines,
                      [=](const Target& target) -> nvmlReturn_t {
                        if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                        fill(info, target, selector);
                        return NVML_SUCCESS;
                      });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t instance, unsigned selector,
                                                                  unsigned engines,
                                                                  nvmlComputeInstanceProfileInfo_v2_t* info) {
  return with_profile(Function::nvmlGpuInstanceGetComputeInstanceProfileInfoV, instance, selector, engines,
                      [=](const Target& target) { return versioned(target, selector, info); });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t instance, unsigned id,
                                                                       unsigned* count) {
  return change_target(Function::nvmlGpuInstanceGetComputeInstanceRemainingCapacity, instance, Kind::gpu_instance,
                       [=](Machine&, const Target& target) -> nvmlReturn_t {
                         Gpu trial = *target.gpu;
                         GpuInstance& existing = trial.instances[instance_slot(*target.gpu, target.instance)];
                         if (!compute_profile_fits(existing, trial.model.mig, id)) return NVML_ERROR_NOT_SUPPORTED;
                         unsigned more = 0;
                         int code = NVML_SUCCESS;
                         while (create_compute(trial, existing, id, -1, &code) != nullptr) ++more;
                         return give(count, more);
                       });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t instance, unsigned id,
                                                                        nvmlComputeInstancePlacement_t* list,
                                                                        unsigned* count) {
  return change_target(Function::nvmlGpuInstanceGetComputeInstancePossiblePlacements, instance, Kind::gpu_instance,
                       [=](Machine&, const Target& target) -> nvmlReturn_t {
                         const MigModel& model = target.gpu->model.mig;
                         if (!compute_profile_fits(*target.instance, model, id)) return NVML_ERROR_NOT_SUPPORTED;
                         std::uint32_t starts[kMaxInstances];
                         const unsigned existing = compute_starts(*target.instance, model, id, starts);
                         if (list == nullptr) return give(count, existing);
                         return give_list(count, list, existing, [&](unsigned i) {
                           return nvmlComputeInstancePlacement_t{starts[i], compute_slices(id)};
                         });
                       });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t instance, unsigned id,
                                                         nvmlComputeInstance_t* compute) {
  return create(Function::nvmlGpuInstanceCreateComputeInstance, instance, id, nullptr, compute);
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceCreateComputeInstanceWithPlacement(nvmlGpuInstance_t instance, unsigned id,
                                                                      const nvmlComputeInstancePlacement_t* placement,
                                                                      nvmlComputeInstance_t* compute) {
  if (placement == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  return create(Function::nvmlGpuInstanceCreateComputeInstanceWithPlacement, instance, id, placement, compute);
}

SLIPWAY_NVML_EXPORT nvmlComputeInstanceDestroy(nvmlComputeInstance_t compute) {
  return change_target(Function::nvmlComputeInstanceDestroy, compute, Kind::compute_instance,
                       [](Machine& machine, const Target& target) -> nvmlReturn_t {
                         if (spend(target.gpu->faults.destroy_in_use)) return NVML_ERROR_IN_USE;
                         for (const Process& process : machine.processes)
                           if (may_use(process, target)) return NVML_ERROR_IN_USE;
                         *target.compute = ComputeInstance{};
                         add_event(machine, target.gpu_index, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
                         return NVML_SUCCESS;
                       });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t instance, unsigned id,
                                                       nvmlComputeInstance_t* list, unsigned* count) {
  return change_target(Function::nvmlGpuInstanceGetComputeInstances, instance, Kind::gpu_instance,
                       [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                         if (list == nullptr || count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                         unsigned existing = 0;
                         for (std::uint32_t wanted = 0; wanted < kMaxInstances; ++wanted)
                           for (const ComputeInstance& each : target.instance->compute)
                             if (each.used != 0 && each.id == wanted && each.selector == id)
                               list[existing++] = handle_of(machine, target, each);
                         *count = existing;
                         return NVML_SUCCESS;
                       });
}

SLIPWAY_NVML_EXPORT nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t instance, unsigned id,
                                                          nvmlComputeInstance_t* compute) {
  return change_target(Function::nvmlGpuInstanceGetComputeInstanceById, instance, Kind::gpu_instance,
                       [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                         for (const ComputeInstance& each : target.instance->compute)
                           if (each.used != 0 && each.id == id) return give(compute, handle_of(machine, target, each));
                         return NVML_ERROR_NOT_FOUND;
                       });
}

SLIPWAY_NVML_EXPORT nvmlComputeInstanceGetInfo(nvmlComputeInstance_t compute, nvmlComputeInstanceInfo_t* info) {
  return info_of(Function::nvmlComputeInstanceGetInfo, compute, info, false);
}
SLIPWAY_NVML_EXPORT nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t compute, nvmlComputeInstanceInfo_t* info) {
  return info_of(Function::nvmlComputeInstanceGetInfo_v2, compute, info, true);
}
