// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/inventory.hpp"

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::toolkit {
namespace {

namespace nvml = nvidia::nvml;

/// `SLIPWAY_ANSWER(name, answer, doing)`: the value of an Answer, or its Error.
#define SLIPWAY_ANSWER(name, answer, doing)              \
  const auto name##_answer = (answer);                   \
  if (!name##_answer) return name##_answer.error(doing); \
  const auto& name = *name##_answer

Result<std::vector<MigDevice>> read_mig_devices(nvml::Nvml& library, nvmlDevice_t gpu, const std::string& name) {
  SLIPWAY_ANSWER(handles, nvml::mig_devices(library, gpu), name + ": list its MIG devices");
  std::vector<MigDevice> devices;
  for (const nvmlDevice_t handle : handles) {
    const auto position = static_cast<unsigned>(devices.size());
    const std::string what = name + ", MIG device " + std::to_string(position);
    SLIPWAY_ANSWER(uuid, nvml::device_uuid(library, handle), what + ": read its UUID");
    SLIPWAY_ANSWER(gi, nvml::gpu_instance_id(library, handle), what + ": read its GPU instance");
    SLIPWAY_ANSWER(ci, nvml::compute_instance_id(library, handle), what + ": read its compute instance");
    const unsigned index = nvml::device_index(library, handle).value_or(position);
    const bool graphics = nvml::device_name(library, handle).value_or("").find("+gfx") != std::string::npos;
    devices.push_back({index, uuid, gi, ci, graphics});
  }
  return devices;
}

Result<GpuDevice> read_gpu(nvml::Nvml& library, nvmlDevice_t handle, unsigned index) {
  const std::string name = "GPU " + std::to_string(index);
  SLIPWAY_ANSWER(pci, nvml::device_pci(library, handle), name + ": read its PCI address");
  const std::string what = name + " (" + pci.address + ")";
  SLIPWAY_ANSWER(uuid, nvml::device_uuid(library, handle), what + ": read its UUID");
  SLIPWAY_ANSWER(minor, nvml::device_minor(library, handle), what + ": read its minor number");
  GpuDevice gpu{index, uuid, minor, pci.address, false, {}};
  gpu.coherent = nvml::addresses_by_ats(library, handle).value_or(false);
  gpu.mig_enabled = nvml::mig_mode(library, handle).value_or({}).current;
  if (!gpu.mig_enabled) return gpu;
  SLIPWAY_TRY(devices, read_mig_devices(library, handle, what));
  gpu.mig_devices = std::move(devices);
  return gpu;
}

}  // namespace

Result<Inventory> read_inventory(nvml::Nvml& library) {
  Inventory inventory;
  SLIPWAY_ANSWER(version, nvml::driver_version(library), "read the driver's version");
  inventory.driver_version = version;
  SLIPWAY_ANSWER(count, nvml::device_count(library), "count the GPUs");
  for (unsigned index = 0; index < count; ++index) {
    SLIPWAY_ANSWER(handle, nvml::device_at(library, index), "GPU " + std::to_string(index) + ": open it");
    const std::string name = nvml::device_name(library, handle).value_or("");
    if (name == "DGX Display" || name == "NVIDIA DGX Display") continue;
    SLIPWAY_TRY(gpu, read_gpu(library, handle, index));
    inventory.gpus.push_back(std::move(gpu));
  }
  return inventory;
}

}  // namespace slipway::toolkit
