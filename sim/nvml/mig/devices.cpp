// SPDX-License-Identifier: Apache-2.0
// MIG devices: the view of a compute instance for its users.
#include "nvidia/nvml/abi/device.h"
#include "sim/nvml/call.hpp"
#include "sim/state/mig_rules.hpp"

namespace slipway::sim {
namespace {

struct Slots {
  unsigned instance, compute;
};

/// Fills in the visible ones, ordered by the ids of GPU and compute instance.
unsigned ordered(const Machine& machine, const Gpu& gpu, Slots list[kMaxInstances * kMaxInstances]) {
  unsigned count = 0;
  for (std::uint32_t id = 0; id <= 14; ++id)
    for (unsigned i = 0; i < kMaxInstances; ++i) {
      const GpuInstance& instance = gpu.instances[i];
      if (instance.used == 0 || instance.id != id) continue;
      for (std::uint32_t compute_id = 0; compute_id < kMaxInstances; ++compute_id)
        for (unsigned c = 0; c < kMaxInstances; ++c)
          if (instance.compute[c].used != 0 && instance.compute[c].id == compute_id &&
              visible(machine, gpu, instance, instance.compute[c]))
            list[count++] = {i, c};
    }
  return count;
}

template <class Body>
nvmlReturn_t with_mig(Function function, nvmlDevice_t device, Body body) {
  return with_target(function, device, [&](Machine& machine, const Target& target) -> nvmlReturn_t {
    if (target.kind == Kind::gpu) return NVML_ERROR_NOT_SUPPORTED;
    if (target.kind != Kind::mig_device) return NVML_ERROR_INVALID_ARGUMENT;
    return body(machine, target);
  });
}

nvmlReturn_t attributes(Function function, nvmlDevice_t device, nvmlDeviceAttributes_t* out, bool newer) {
  return with_mig(function, device, [=](Machine&, const Target& target) -> nvmlReturn_t {
    if (out == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    const MigModel& model = target.gpu->model.mig;
    const MigProfile& profile = model.profiles[target.instance->profile];
    out->multiprocessorCount = compute_multiprocessors(*target.instance, model, target.compute->selector);
    out->sharedCopyEngineCount = profile.copy_engines;
    out->sharedDecoderCount = profile.decoders;
    out->sharedEncoderCount = profile.encoders;
    out->sharedJpegCount = profile.jpeg;
    out->sharedOfaCount = profile.ofa;
    if (!newer) return NVML_SUCCESS;  // the older layout ends here
    out->gpuInstanceSliceCount = profile.slices;
    out->computeInstanceSliceCount = target.compute->size;
    out->memorySizeMB = profile.memory_mib;
    return NVML_SUCCESS;
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* is) {
  return with_target(Function::nvmlDeviceIsMigDeviceHandle, device,
                     [=](Machine&, const Target& target) { return give(is, target.kind == Kind::mig_device ? 1 : 0); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index, nvmlDevice_t* found) {
  return with_target(Function::nvmlDeviceGetMigDeviceHandleByIndex, device,
                     [=](Machine& machine, const Target& target) -> nvmlReturn_t {
                       if (target.kind != Kind::gpu || found == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
                       if (target.gpu->mig_current == 0) return NVML_ERROR_NOT_SUPPORTED;
                       if (index >= target.gpu->model.mig.compute_slices) return NVML_ERROR_INVALID_ARGUMENT;
                       Slots list[kMaxInstances * kMaxInstances];
                       if (index >= ordered(machine, *target.gpu, list)) return NVML_ERROR_NOT_FOUND;
                       *found = static_cast<nvmlDevice_t>(make_handle(machine, Kind::mig_device, target.gpu_index,
                                                                      list[index].instance, list[index].compute));
                       return NVML_SUCCESS;
                     });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t device, nvmlDevice_t* parent) {
  return with_mig(Function::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device,
                  [=](Machine& machine, const Target& target) {
                    return give(parent, static_cast<nvmlDevice_t>(make_handle(machine, Kind::gpu, target.gpu_index)));
                  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned* id) {
  return with_mig(Function::nvmlDeviceGetGpuInstanceId, device,
                  [=](Machine&, const Target& target) { return give(id, target.instance->id); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned* id) {
  return with_mig(Function::nvmlDeviceGetComputeInstanceId, device,
                  [=](Machine&, const Target& target) { return give(id, target.compute->id); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return attributes(Function::nvmlDeviceGetAttributes, device, out, false);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* out) {
  return attributes(Function::nvmlDeviceGetAttributes_v2, device, out, true);
}
