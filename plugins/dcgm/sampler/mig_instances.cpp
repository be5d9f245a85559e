// SPDX-License-Identifier: Apache-2.0
// The GPU instances of a GPU, which dcgm-exporter lists instead of the GPU.
#include <algorithm>

#include "dcgm/sampler/field_reader.hpp"

namespace slipway::dcgm {
namespace {

namespace nvml = nvidia::nvml;

/// Drivers before R510 do not return the name.
std::string name_of(nvml::Nvml& nvml, nvmlDevice_t gpu, const nvml::GpuInstanceProfile& profile) {
  if (!profile.name.empty()) return profile.name;
  return std::to_string(profile.slices) + "g." +
         nvml::memory_part(profile.memory_mib, nvml::memory_total(nvml, gpu).value_or(0));
}

/// The largest profile covers all slices of the memory.
unsigned slices_of(nvml::Nvml& nvml, nvmlDevice_t gpu, const std::vector<nvml::GpuInstanceProfile>& profiles) {
  const auto largest = std::ranges::max_element(profiles, {}, &nvml::GpuInstanceProfile::slices);
  unsigned slices = 1;
  if (largest == profiles.end()) return slices;
  const auto places = nvml::placements(nvml, gpu, largest->id);
  for (const nvmlGpuInstancePlacement_t& place : *places) slices = std::max(slices, place.start + place.size);
  return slices;
}

std::vector<MigInstance> instances_of(nvml::Nvml& nvml, nvmlDevice_t gpu,
                                      const std::vector<nvml::GpuInstanceProfile>& profiles) {
  std::vector<MigInstance> instances;
  for (const nvml::GpuInstanceProfile& profile : profiles) {
    const auto handles = nvml::gpu_instances(nvml, gpu, profile);
    for (const nvmlGpuInstance_t handle : *handles)
      if (const auto info = nvml::gpu_instance_info(nvml, handle))
        instances.push_back({.id = info->id, .profile = name_of(nvml, gpu, profile), .place = info->placement});
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

// Reading the mode takes 160 us of the GPU's time, and while MIG is off it is the only reading about MIG.
constexpr std::chrono::seconds kAskAnyway{60};

}  // namespace

const MigLayout& FieldReader::read_mig(bool told_by_event) {
  if (mig_) return *mig_;
  MigLayout& layout = mig_.emplace();
  const auto now = GpuHistory::Clock::now();
  if (told_by_event && history_.mig_off_since && now - *history_.mig_off_since < kAskAnyway) return layout;
  history_.mig_off_since.reset();
  const auto mode = nvml::mig_mode(nvml_, gpu_);
  const bool off = mode.absent() || (mode && !mode->current && !mode->pending);
  if (off) history_.mig_off_since = now;
  if (!mode) return layout;
  layout.mode = *mode;
  if (!mode->current) return layout;
  if (history_.mig_profiles.empty()) {
    history_.mig_profiles = *nvml::gpu_instance_profiles(nvml_, gpu_);
    history_.mig_slices = slices_of(nvml_, gpu_, history_.mig_profiles);
  }
  layout.slices = history_.mig_slices;
  layout.instances = instances_of(nvml_, gpu_, history_.mig_profiles);
  return layout;
}

}  // namespace slipway::dcgm
