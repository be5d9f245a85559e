// SPDX-License-Identifier: Apache-2.0
// Finding GPUs and their identity.
#include <cstdio>
#include <cstring>

#include <strings.h>

#include "nvidia/nvml/abi/device.h"
#include "sim/nvml/call.hpp"
#include "sim/state/mig_uuid.hpp"

namespace slipway::sim {
namespace {

nvmlReturn_t count_gpus(Function function, unsigned* count) {
  return with_machine(function, [=](Machine& machine) {
    unsigned list[kMaxGpus];
    return give(count, visible_gpus(machine, list));
  });
}

nvmlReturn_t give_handle(Machine& machine, unsigned gpu, nvmlDevice_t* device) {
  if (machine.gpus[gpu].faults.lost != 0) return NVML_ERROR_GPU_IS_LOST;
  *device = static_cast<nvmlDevice_t>(make_handle(machine, Kind::gpu, gpu));
  return NVML_SUCCESS;
}

nvmlReturn_t by_index(Function function, unsigned index, nvmlDevice_t* device) {
  return with_machine(function, [=](Machine& machine) -> nvmlReturn_t {
    unsigned list[kMaxGpus];
    if (index >= visible_gpus(machine, list) || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    return give_handle(machine, list[index], device);
  });
}

nvmlReturn_t by_mig_uuid(Machine& machine, unsigned gpu, const char* uuid, nvmlDevice_t* device) {
  Gpu& existing = machine.gpus[gpu];
  for (unsigned i = 0; i < kMaxInstances; ++i)
    for (unsigned c = 0; c < kMaxInstances; ++c) {
      const GpuInstance& instance = existing.instances[i];
      if (instance.used == 0 || instance.compute[c].used == 0) continue;
      char text[64];
      mig_uuid(existing, instance, instance.compute[c], text, sizeof text);
      if (strcasecmp(text, uuid) != 0 || !visible(machine, existing, instance, instance.compute[c])) continue;
      *device = static_cast<nvmlDevice_t>(make_handle(machine, Kind::mig_device, gpu, i, c));
      return NVML_SUCCESS;
    }
  return NVML_ERROR_NOT_FOUND;
}

/// Accepts "00000000:65:00.0", "0000:65:00.0" or "65:00.0".
bool same_place(const Gpu& gpu, const char* text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  if (sscanf(text, "%x:%x:%x", &domain, &bus, &device) == 3)
    return domain == gpu.domain && bus == gpu.bus && device == gpu.device;
  return sscanf(text, "%x:%x", &bus, &device) == 2 && gpu.domain == 0 && bus == gpu.bus && device == gpu.device;
}

template <class Same>
nvmlReturn_t by(Function function, const char* text, nvmlDevice_t* device, Same same) {
  return with_machine(function, [=](Machine& machine) -> nvmlReturn_t {
    if (text == nullptr || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < machine.gpu_count; ++i)
      if (visible(machine, machine.gpus[i]) && same(machine.gpus[i])) return give_handle(machine, i, device);
    return NVML_ERROR_NOT_FOUND;
  });
}

}  // namespace
}  // namespace slipway::sim

using namespace slipway::sim;

SLIPWAY_NVML_EXPORT nvmlDeviceGetCount(unsigned* count) { return count_gpus(Function::nvmlDeviceGetCount, count); }
SLIPWAY_NVML_EXPORT nvmlDeviceGetCount_v2(unsigned* count) {
  return count_gpus(Function::nvmlDeviceGetCount_v2, count);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  return by_index(Function::nvmlDeviceGetHandleByIndex, index, device);
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  return by_index(Function::nvmlDeviceGetHandleByIndex_v2, index, device);
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  return with_machine(Function::nvmlDeviceGetHandleByUUID, [=](Machine& machine) -> nvmlReturn_t {
    if (uuid == nullptr || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < machine.gpu_count; ++i) {
      if (!visible(machine, machine.gpus[i])) continue;
      if (strcasecmp(machine.gpus[i].uuid, uuid) == 0) return give_handle(machine, i, device);
      if (by_mig_uuid(machine, i, uuid, device) == NVML_SUCCESS) return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetHandleByPciBusId(const char* place, nvmlDevice_t* device) {
  return by(Function::nvmlDeviceGetHandleByPciBusId, place, device,
            [place](const Gpu& gpu) { return same_place(gpu, place); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetHandleByPciBusId_v2(const char* place, nvmlDevice_t* device) {
  return by(Function::nvmlDeviceGetHandleByPciBusId_v2, place, device,
            [place](const Gpu& gpu) { return same_place(gpu, place); });
}
SLIPWAY_NVML_EXPORT nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device) {
  return by(Function::nvmlDeviceGetHandleBySerial, serial, device,
            [serial](const Gpu& gpu) { return strcmp(gpu.serial, serial) == 0; });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
  return with_target(Function::nvmlDeviceGetName, device, [=](Machine&, const Target& target) {
    if (target.kind == Kind::gpu) return give_text(target.gpu->model.name, name, length);
    const MigProfile& profile = target.gpu->model.mig.profiles[target.instance->profile];
    char text[160];
    snprintf(text, sizeof text, "%.90s MIG %.30s", target.gpu->model.name, profile.name);
    return give_text(text, name, length);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned length) {
  return with_target(Function::nvmlDeviceGetUUID, device, [=](Machine&, const Target& target) {
    if (target.kind == Kind::gpu) return give_text(target.gpu->uuid, uuid, length);
    char text[64];
    mig_uuid(*target.gpu, *target.instance, *target.compute, text, sizeof text);
    return give_text(text, uuid, length);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  return with_target(Function::nvmlDeviceGetIndex, device, [=](Machine& machine, const Target& target) -> nvmlReturn_t {
    if (target.kind != Kind::gpu) return NVML_ERROR_NOT_SUPPORTED;
    unsigned list[kMaxGpus];
    const unsigned count = visible_gpus(machine, list);
    for (unsigned i = 0; i < count; ++i)
      if (list[i] == target.gpu_index) return give(index, i);
    return NVML_ERROR_NOT_FOUND;
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned* minor) {
  return with_gpu(Function::nvmlDeviceGetMinorNumber, device, [=](Gpu& gpu) { return give(minor, gpu.minor); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetSerial(nvmlDevice_t device, char* serial, unsigned length) {
  return with_any_device(Function::nvmlDeviceGetSerial, device,
                         [=](Gpu& gpu) { return give_text(gpu.serial, serial, length); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetBrand(nvmlDevice_t device, unsigned* brand) {
  return with_any_device(Function::nvmlDeviceGetBrand, device, [=](Gpu& gpu) { return give(brand, gpu.model.brand); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned* architecture) {
  return with_any_device(Function::nvmlDeviceGetArchitecture, device,
                         [=](Gpu& gpu) { return give(architecture, gpu.model.architecture); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return with_any_device(Function::nvmlDeviceGetCudaComputeCapability, device, [=](Gpu& gpu) {
    return give(major, gpu.model.compute_major, minor, gpu.model.compute_minor);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned* cores) {
  return with_gpu(Function::nvmlDeviceGetNumGpuCores, device, [=](Gpu& gpu) { return give(cores, gpu.model.cores); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned* id) {
  return with_gpu(Function::nvmlDeviceGetModuleId, device, [=](Gpu& gpu) { return give(id, gpu.module_id); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned* id) {
  return with_gpu(Function::nvmlDeviceGetBoardId, device,
                  [=](Gpu& gpu) { return give(id, gpu.domain << 16U | gpu.bus << 8U); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned* multi) {
  return with_gpu(Function::nvmlDeviceGetMultiGpuBoard, device, [=](Gpu&) { return give(multi, 0); });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* number, unsigned length) {
  return with_gpu(Function::nvmlDeviceGetBoardPartNumber, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.part_number[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
    return give_text(gpu.model.part_number, number, length);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* version, unsigned length) {
  return with_any_device(Function::nvmlDeviceGetVbiosVersion, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.vbios[0] == '\0') return NVML_ERROR_NOT_SUPPORTED;
    return give_text(gpu.model.vbios, version, length);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char* version) {
  return with_target(Function::nvmlDeviceGetGspFirmwareVersion, device, [=](Machine& machine, const Target& target) {
    const bool gsp = target.gpu->model.architecture >= 6;  // Turing and later
    return gsp ? give_text(machine.driver_version, version, NVML_GSP_FIRMWARE_VERSION_BUF_SIZE)
               : static_cast<nvmlReturn_t>(NVML_ERROR_NOT_SUPPORTED);
  });
}

SLIPWAY_NVML_EXPORT nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned* enabled, unsigned* standard) {
  return with_gpu(Function::nvmlDeviceGetGspFirmwareMode, device, [=](Gpu& gpu) -> nvmlReturn_t {
    if (gpu.model.architecture < 6) return NVML_ERROR_NOT_SUPPORTED;
    return give(enabled, 1, standard, gpu.model.architecture >= 7 ? 1 : 0);
  });
}
