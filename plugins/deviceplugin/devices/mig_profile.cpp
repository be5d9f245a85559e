// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "deviceplugin/devices/inventory.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

/// Which profile a GPU instance was made by; the plain one where that cannot be told.
unsigned selector_of(nvml::Nvml& library, nvmlDevice_t gpu, unsigned instance,
                     const std::vector<nvml::GpuInstanceProfile>& profiles) {
  const auto handle = nvml::gpu_instance_by_id(library, gpu, instance);
  const auto info =
      handle ? nvml::gpu_instance_info(library, *handle) : nvml::Answer<nvmlGpuInstanceInfo_t>(handle.code());
  if (!info) return 0;
  const auto profile = std::ranges::find(profiles, info->profileId, &nvml::GpuInstanceProfile::id);
  return profile == profiles.end() ? 0 : profile->selector;
}

/// /dev/nvidia-caps/nvidia-capN of the GPU instance and of the compute instance.
std::vector<std::string> capability_nodes(const MigDevice& device, unsigned minor, const MigMinors& minors) {
  std::vector<std::string> paths;
  const std::string instance = fmt::format("gpu{}/gi{}", minor, device.gpu_instance);
  for (const std::string& name :
       {instance + "/access", fmt::format("{}/ci{}/access", instance, device.compute_instance)})
    if (const auto found = minors.find(name); found != minors.end())
      paths.push_back(fmt::format("/dev/nvidia-caps/nvidia-cap{}", found->second));
  return paths;
}

}  // namespace

MigMinors read_mig_minors(const Host& host) {
  return parse_mig_minors(host.read("/proc/driver/nvidia-caps/mig-minors").value_or(""));
}

MigMinors parse_mig_minors(std::string_view text) {
  MigMinors minors;
  std::string name;
  unsigned minor = 0;
  for (const std::string& line : lines_of(text))
    if (std::istringstream words(line); words >> name >> minor) minors[name] = minor;
  return minors;
}

nvml::Answer<std::vector<MigDevice>> read_mig_devices(nvml::Nvml& library, nvmlDevice_t handle, const Gpu& gpu,
                                                      const MigMinors& minors) {
  const auto handles = nvml::mig_devices(library, handle);
  if (!handles) return handles.code();
  const auto profiles = nvml::gpu_instance_profiles(library, handle).value_or({});
  std::vector<MigDevice> devices;
  for (nvmlDevice_t each : *handles) {
    MigDevice device;
    const auto uuid = nvml::device_uuid(library, each);
    const auto attributes = nvml::mig_attributes(library, each);
    const auto instance = nvml::gpu_instance_id(library, each);
    const auto compute = nvml::compute_instance_id(library, each);
    if (!uuid || !attributes || !instance || !compute) continue;
    device.uuid = *uuid;
    device.index = nvml::device_index(library, each).value_or(static_cast<unsigned>(devices.size()));
    device.gpu_instance = *instance;
    device.compute_instance = *compute;
    device.memory_bytes = static_cast<std::uint64_t>(attributes->memorySizeMB) << 20U;
    device.whole_instance = attributes->computeInstanceSliceCount == attributes->gpuInstanceSliceCount;
    device.profile =
        nvml::mig_profile_name(*attributes, gpu.memory_bytes, selector_of(library, handle, *instance, profiles));
    device.paths = capability_nodes(device, gpu.minor, minors);
    devices.push_back(std::move(device));
  }
  return {NVML_SUCCESS, std::move(devices)};
}

}  // namespace slipway::deviceplugin
