// SPDX-License-Identifier: Apache-2.0
#include "device-plugin/mig_profile.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::deviceplugin {
namespace {

namespace nvml = nvidia::nvml;

/// What follows the memory in a profile's name, by the selector that it answers to.
std::string_view attributes_of(unsigned selector) {
  switch (selector) {
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1:
      return "+me";
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME:
      return "+me.all";
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME:
      return "-me";
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX:
    case NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX:
    case NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX:
      return "+gfx";
    default:
      return {};
  }
}

// Eighths of the memory, rounded up, of the total in whole GiB. Parts that share the CPU's memory: no total, 0 GB.
long long memory_gb(std::uint64_t instance_mib, std::uint64_t total_bytes) {
  if (total_bytes == 0) return 0;
  constexpr double kEighths = 8;
  const double share = static_cast<double>(instance_mib << 20U) / static_cast<double>(total_bytes);
  const std::uint64_t total_gib = (total_bytes + (1ULL << 30U) - 1) >> 30U;
  return std::llround(std::ceil(share * kEighths) / kEighths * static_cast<double>(total_gib));
}

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
std::vector<std::string> capability_nodes(const MigDevice& device, unsigned minor,
                                          const std::map<std::string, unsigned>& minors) {
  std::vector<std::string> paths;
  const std::string instance = fmt::format("gpu{}/gi{}", minor, device.gpu_instance);
  for (const std::string& name :
       {instance + "/access", fmt::format("{}/ci{}/access", instance, device.compute_instance)})
    if (const auto found = minors.find(name); found != minors.end())
      paths.push_back(fmt::format("/dev/nvidia-caps/nvidia-cap{}", found->second));
  return paths;
}

}  // namespace

std::map<std::string, unsigned> parse_mig_minors(std::string_view text) {
  std::map<std::string, unsigned> minors;
  std::istringstream lines{std::string(text)};
  std::string name;
  unsigned minor = 0;
  for (std::string line; std::getline(lines, line);)
    if (std::istringstream words(line); words >> name >> minor) minors[name] = minor;
  return minors;
}

nvml::Answer<std::vector<MigDevice>> read_mig_devices(nvml::Nvml& library, nvmlDevice_t handle, const Gpu& gpu,
                                                      const Host& host) {
  const auto handles = nvml::mig_devices(library, handle);
  if (!handles) return handles.code();
  const auto profiles = nvml::gpu_instance_profiles(library, handle).value_or({});
  const auto minors = parse_mig_minors(host.read("/proc/driver/nvidia-caps/mig-minors").value_or(""));
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
    device.profile = fmt::format(
        "{}{}g.{}gb{}", device.whole_instance ? "" : fmt::format("{}c.", attributes->computeInstanceSliceCount),
        attributes->gpuInstanceSliceCount, memory_gb(attributes->memorySizeMB, gpu.memory_bytes),
        attributes_of(selector_of(library, handle, *instance, profiles)));
    device.paths = capability_nodes(device, gpu.minor, minors);
    devices.push_back(std::move(device));
  }
  return {NVML_SUCCESS, std::move(devices)};
}

}  // namespace slipway::deviceplugin
