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

/// True when everything that is read of a known device is unchanged.
bool is_same(const MigDevice& one, const MigDevice& other) {
  return one.uuid == other.uuid && one.gpu_instance == other.gpu_instance &&
         one.compute_instance == other.compute_instance && one.memory_bytes == other.memory_bytes &&
         one.whole_instance == other.whole_instance;
}

/// Returns the profile that a GPU instance was created with; the plain one if it cannot be determined.
unsigned selector_of(nvml::Nvml& library, nvmlDevice_t gpu, unsigned instance,
                     const std::vector<nvml::GpuInstanceProfile>& profiles) {
  const auto handle = nvml::gpu_instance_by_id(library, gpu, instance);
  const auto info =
      handle ? nvml::gpu_instance_info(library, *handle) : nvml::Answer<nvmlGpuInstanceInfo_t>(handle.code());
  if (!info) return 0;
  const auto profile = std::ranges::find(profiles, info->profileId, &nvml::GpuInstanceProfile::id);
  return profile == profiles.end() ? 0 : profile->selector;
}

}  // namespace

std::vector<std::string> capability_nodes(const MigDevice& device, unsigned minor, const MigMinors& minors) {
  std::vector<std::string> paths;
  const std::string instance = fmt::format("gpu{}/gi{}", minor, device.gpu_instance);
  for (const std::string& name :
       {instance + "/access", fmt::format("{}/ci{}/access", instance, device.compute_instance)})
    if (const auto found = minors.find(name); found != minors.end())
      paths.push_back(fmt::format("/dev/nvidia-caps/nvidia-cap{}", found->second));
  return paths;
}

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
                                                      const std::vector<MigDevice>& known) {
  const auto handles = nvml::mig_devices(library, handle);
  if (!handles) return handles.code();
  std::optional<std::vector<nvml::GpuInstanceProfile>> profiles;  // half a millisecond each
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
    if (const auto same = std::ranges::find_if(known, [&](const MigDevice& old) { return is_same(old, device); });
        same != known.end()) {
      device.profile = same->profile;
      device.paths = same->paths;
    } else {
      if (!profiles) profiles = nvml::gpu_instance_profiles(library, handle).value_or({});
      device.profile =
          nvml::mig_profile_name(*attributes, gpu.memory_bytes, selector_of(library, handle, *instance, *profiles));
    }
    devices.push_back(std::move(device));
  }
  return {NVML_SUCCESS, std::move(devices)};
}

}  // namespace slipway::deviceplugin
