// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/gpu_pods.hpp"

#include <algorithm>
#include <set>

namespace slipway::nvidia::kubelet {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::string_view kMig = "nvidia.com/mig-";

/// Handles "0/3/0" behind "MIG-GPU-…": drivers before R470 name MIG devices by GPU, GPU instance and compute instance.
std::string without_compute_instance(std::string_view name) {
  const std::size_t instance = name.find('/');
  const std::size_t compute = instance == std::string_view::npos ? instance : name.find('/', instance + 1);
  return std::string(name.substr(0, compute));
}

/// @param counts  counts(resource)
template <class Counts>
GpuPods grouped(const std::vector<Allocation>& allocations, Counts counts) {
  std::map<std::string, std::set<GpuPod>, std::less<>> found;
  for (const Allocation& each : allocations) {
    if (!counts(each.resource)) continue;
    DeviceId device = parse_device_id(each.id);
    auto& holders = found[std::move(device.key)];
    if (holders.size() < kMostGpuPods)
      holders.insert({each.pod_namespace, each.pod, each.container, std::move(device.replica), each.init_container,
                      each.from_checkpoint});
  }
  GpuPods holders;
  for (const auto& [key, each] : found) holders.emplace(key, std::vector<GpuPod>(each.begin(), each.end()));
  return holders;
}

}  // namespace

DeviceId parse_device_id(std::string_view id) {
  constexpr std::string_view kOldMig = "MIG-GPU-";
  constexpr std::string_view kGkeReplica = "/vgpu";
  DeviceId parsed;
  if (const std::size_t colons = id.find("::"); colons != std::string_view::npos) {
    parsed.replica = id.substr(colons + 2);
    id = id.substr(0, colons);
  } else if (const std::size_t vgpu = id.find(kGkeReplica);
             id.starts_with("nvidia") && vgpu != std::string_view::npos) {
    parsed.replica = id.substr(vgpu + kGkeReplica.size());
    id = id.substr(0, vgpu);
  }
  parsed.key = id.starts_with(kOldMig) ? without_compute_instance(id.substr(4)) : std::string(id);
  return parsed;
}

GpuPods gpu_pods_of(const std::vector<Allocation>& allocations) {
  return grouped(allocations, [](const std::string&) { return true; });
}

GpuPods gpu_pods_of(const std::vector<Allocation>& allocations, const std::vector<std::string>& more_resources) {
  return grouped(allocations, [&](const std::string& resource) {
    return resource == kGpu || resource.starts_with(kMig) ||
           std::ranges::find(more_resources, resource) != more_resources.end();
  });
}

}  // namespace slipway::nvidia::kubelet
