// SPDX-License-Identifier: Apache-2.0
// The GPU instances of a GPU, which dcgm-exporter lists in the place of the GPU.
#include <algorithm>

#include "dcgm/sampler/field_reader.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// Drivers before R510 do not tell the name.
std::string name_of(nvml::Nvml& nvml, nvmlDevice_t gpu, const nvml::GpuInstanceProfile& profile) {
  if (!profile.name.empty()) return profile.name;
  return std::to_string(profile.slices) + "g." +
         nvml::memory_part(profile.memory_mib, nvml::memory_total(nvml, gpu).value_or(0));
}

}  // namespace

std::vector<MigInstance> mig_instances(nvml::Nvml& nvml, nvmlDevice_t gpu, GpuHistory& history) {
  std::vector<MigInstance> instances;
  const auto mode = nvml::mig_mode(nvml, gpu);
  if (!mode || !mode->current) return instances;
  if (history.mig_profiles.empty()) history.mig_profiles = *nvml::gpu_instance_profiles(nvml, gpu);
  for (const nvml::GpuInstanceProfile& profile : history.mig_profiles) {
    const auto handles = nvml::gpu_instances(nvml, gpu, profile);
    for (const nvmlGpuInstance_t handle : *handles)
      if (const auto info = nvml::gpu_instance_info(nvml, handle))
        instances.push_back({.id = info->id, .profile = name_of(nvml, gpu, profile)});
  }
  const auto devices = nvml::mig_devices(nvml, gpu);
  for (const nvmlDevice_t device : *devices) {
    const auto id = nvml::gpu_instance_id(nvml, device);
    for (MigInstance& instance : instances)
      if (id && instance.id == *id) instance.devices.push_back(device);
  }
  for (MigInstance& instance : instances)
    if (!instance.devices.empty()) instance.device = instance.devices.front();
  std::ranges::sort(instances, {}, &MigInstance::id);
  return instances;
}

}  // namespace slipway::dcgm
