// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/holders.hpp"

#include <algorithm>
#include <set>

#include "nvidia/kubelet/unary_call.hpp"
#include "slipway/kubelet/podresources_v1.pb.h"

namespace slipway::nvidia::kubelet {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";
constexpr std::string_view kMig = "nvidia.com/mig-";
constexpr std::size_t kLongestName = 253;  // of a pod or a namespace in Kubernetes

bool counts(const std::string& resource, const std::vector<std::string>& more_resources) {
  return resource == kGpu || resource.starts_with(kMig) ||
         std::ranges::find(more_resources, resource) != more_resources.end();
}

/// "0/3/0" behind "MIG-GPU-…": drivers before R470 name MIG devices by GPU, GPU instance and compute instance.
std::string without_compute_instance(std::string_view name) {
  const std::size_t instance = name.find('/');
  const std::size_t compute = instance == std::string_view::npos ? instance : name.find('/', instance + 1);
  return std::string(name.substr(0, compute));
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

namespace {

constexpr std::chrono::seconds kCallLimit{3};

/// @param counts  counts(resource)
template <class Counts>
Result<Holders> holders_with(const std::string& answer, Counts counts) {
  v1::ListPodResourcesResponse list;
  if (!list.ParseFromString(answer))
    return Error{ErrorCode::corrupt, "kubelet's list of pods cannot be read", {}, {}, {}};
  std::map<std::string, std::set<Holder>, std::less<>> found;
  for (const auto& pod : list.pod_resources()) {
    if (pod.name().size() > kLongestName || pod.namespace_().size() > kLongestName) continue;
    for (const auto& container : pod.containers()) {
      if (container.name().size() > kLongestName) continue;
      for (const auto& devices : container.devices()) {
        if (!counts(devices.resource_name())) continue;
        for (const std::string& id : devices.device_ids()) {
          DeviceId device = parse_device_id(id);
          auto& holders = found[std::move(device.key)];
          if (holders.size() < kMostHolders)
            holders.insert({pod.namespace_(), pod.name(), container.name(), std::move(device.replica)});
        }
      }
    }
  }
  Holders holders;
  for (const auto& [key, each] : found) holders.emplace(key, std::vector<Holder>(each.begin(), each.end()));
  return holders;
}

}  // namespace

Result<std::string> list_pods(int fd) {
  return call(fd, {.method = "/v1.PodResourcesLister/List", .message = {}, .limit = kCallLimit});
}

Result<Holders> holders_in(const std::string& answer, const std::vector<std::string>& more_resources) {
  return holders_with(answer, [&](const std::string& resource) { return counts(resource, more_resources); });
}

Result<Holders> all_holders_in(const std::string& answer) {
  return holders_with(answer, [](const std::string&) { return true; });
}

}  // namespace slipway::nvidia::kubelet
