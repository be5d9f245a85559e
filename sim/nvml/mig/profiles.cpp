// SPDX-License-Identifier: Apache-2.0
// The MIG profiles of a GPU, and the possible places of their instances.
#include <cstdio>
#include <cstring>

#include "nvidia/nvml/abi/mig.h"
#include "sim/nvml/call.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

template <class Info>
void fill(Info* info, const MigProfile& profile) {
  info->id = profile.id;
  info->sliceCount = profile.slices;
  info->instanceCount = profile.max;
  info->multiprocessorCount = profile.multiprocessors;
  info->copyEngineCount = profile.copy_engines;
  info->decoderCount = profile.decoders;
  info->encoderCount = profile.encoders;
  info->jpegCount = profile.jpeg;
  info->ofaCount = profile.ofa;
  info->memorySizeMB = profile.memory_mib;
}

/// `body(profile)` for a selector that the GPU supports.
template <class Body>
nvmlReturn_t with_profile(Function function, nvmlDevice_t device, unsigned selector, Body body) {
  return with_gpu(function, device, [&](Gpu& gpu) -> nvmlReturn_t {
    if (selector >= NVML_GPU_INSTANCE_PROFILE_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
    const MigModel& model = gpu.model.mig;
    if (model.capable == 0 || (gpu.mig_current == 0 && model.query_when_disabled == 0)) return NVML_ERROR_NOT_SUPPORTED;
    const int index = profile_by_selector(model, selector);
    return index < 0 ? static_cast<nvmlReturn_t>(NVML_ERROR_NOT_SUPPORTED) : body(model.profiles[index]);
  });
}

nvmlReturn_t versioned(const MigProfile& profile, void* info) {
  if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  unsigned version = 0;
  memcpy(&version, info, sizeof version);
  if (version == NVML_STRUCT_VERSION(nvmlGpuInstanceProfileInfo_v2_t, 2)) {
    auto* const second = static_cast<nvmlGpuInstanceProfileInfo_v2_t*>(info);
    fill(second, profile);
    second->isP2pSupported = 0;
    snprintf(second->name, sizeof second->name, "MIG %s", profile.name);
    return NVML_SUCCESS;
  }
  if (version != NVML_STRUCT_VERSION(nvmlGpuInstanceProfileInfo_v3_t, 3)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  auto* const third = static_cast<nvmlGpuInstanceProfileInfo_v3_t*>(info);
  fill(third, profile);
  snprintf(third->name, sizeof third->name, "MIG %s", profile.name);
  third->capabilities = profile.graphics != 0 ? NVML_GPU_INSTANCE_PROFILE_CAPS_GFX : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t places(Function function, nvmlDevice_t device, unsigned id, nvmlGpuInstancePlacement_t* list,
                    unsigned* count) {
  return with_gpu(function, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.mig.capable == 0) return NVML_ERROR_NOT_SUPPORTED;
    const int index = profile_by_id(gpu.model.mig, id);
    if (index < 0 || count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const MigProfile& profile = gpu.model.mig.profiles[index];
    if (list == nullptr) return give(count, profile.start_count);
    return give_list(count, list, profile.start_count, [&profile](unsigned i) {
      return nvmlGpuInstancePlacement_t{profile.starts[i], profile.size};
    });
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned selector,
                                                        nvmlGpuInstanceProfileInfo_t* info) {
  return with_profile(Function::nvmlDeviceGetGpuInstanceProfileInfo, device, selector,
                      [=](const MigProfile& profile) -> nvmlReturn_t {
                        if (info == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                        fill(info, profile);
                        info->isP2pSupported = 0;
                        return NVML_SUCCESS;
                      });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned selector,
                                                         nvmlGpuInstanceProfileInfo_v2_t* info) {
  return with_profile(Function::nvmlDeviceGetGpuInstanceProfileInfoV, device, selector,
                      [=](const MigProfile& profile) { return versioned(profile, info); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned id,
                                                             nvmlGpuInstanceProfileInfo_v2_t* info) {
  return with_gpu(Function::nvmlDeviceGetGpuInstanceProfileInfoByIdV, device, [=](Gpu& gpu) -> nvmlReturn_t {
    const int index = profile_by_id(gpu.model.mig, id);
    return index < 0 ? static_cast<nvmlReturn_t>(NVML_ERROR_INVALID_ARGUMENT)
                     : versioned(gpu.model.mig.profiles[index], info);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstancePossiblePlacements(nvmlDevice_t device, unsigned id,
                                                               nvmlGpuInstancePlacement_t* list, unsigned* count) {
  return places(Function::nvmlDeviceGetGpuInstancePossiblePlacements, device, id, list, count);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned id,
                                                                  nvmlGpuInstancePlacement_t* list, unsigned* count) {
  return places(Function::nvmlDeviceGetGpuInstancePossiblePlacements_v2, device, id, list, count);
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned id, unsigned* count) {
  return change_gpu(Function::nvmlDeviceGetGpuInstanceRemainingCapacity, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.mig_current == 0) return NVML_ERROR_NOT_SUPPORTED;
    const int index = profile_by_id(gpu.model.mig, id);
    if (index < 0) return NVML_ERROR_NOT_SUPPORTED;
    return give(count, remaining(gpu, static_cast<unsigned>(index)));
  });
}
