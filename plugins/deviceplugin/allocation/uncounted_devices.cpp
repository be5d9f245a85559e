// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/allocation/uncounted_devices.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "nvidia/kubelet/gpu_pods.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::size_t kNamedPods = 4;

/// The GPU, and the MIG device if any, that a device id of kubelet stands for.
struct Place {
  std::string gpu;
  std::string mig;  ///< UUID; empty: the whole GPU
};

/// Returns every name that device plugins use for a GPU or MIG device.
std::map<std::string, Place, std::less<>> places_on(const std::vector<Gpu>& gpus) {
  std::map<std::string, Place, std::less<>> places;
  for (const Gpu& gpu : gpus) {
    const std::string node = fmt::format("nvidia{}", gpu.minor);
    places.emplace(gpu.uuid, Place{gpu.uuid, {}});
    places.emplace(node, Place{gpu.uuid, {}});
    for (const MigDevice& mig : gpu.mig_devices) {
      const Place place{gpu.uuid, mig.uuid};
      places.emplace(mig.uuid, place);
      places.emplace(nvidia::kubelet::parse_device_id(mig.uuid).key, place);
      places.emplace(fmt::format("{}/{}", gpu.uuid, mig.gpu_instance), place);
      places.emplace(fmt::format("{}/gi{}", node, mig.gpu_instance), place);
    }
  }
  return places;
}

bool is_counted(const Resource& resource, const Allocation& allocation) {
  if (allocation.resource != resource.name || resource.find(allocation.id) == nullptr) return false;
  // Ids of time-slicing and MPS look alike; only the checkpoint tells them apart.
  return !allocation.mps || resource.sharing == SharingKind::mps;
}

struct Users {
  std::vector<const Allocation*> counted;
  std::vector<const Allocation*> uncounted;
};

/// Returns the users by device of the resource.
std::vector<Users> users_of(const Resource& resource, const std::map<std::string, Place, std::less<>>& places,
                            const std::vector<Allocation>& allocations) {
  std::map<std::string, std::vector<std::size_t>, std::less<>> on_gpu;
  for (std::size_t i = 0; i < resource.devices.size(); ++i) on_gpu[resource.devices[i].gpu].push_back(i);
  std::vector<Users> users(resource.devices.size());
  for (const Allocation& each : allocations) {
    const auto place = places.find(nvidia::kubelet::parse_device_id(each.id).key);
    if (place == places.end()) continue;
    const auto devices = on_gpu.find(place->second.gpu);
    if (devices == on_gpu.end()) continue;
    for (const std::size_t i : devices->second) {
      const Device& device = resource.devices[i];
      const std::string& mig = place->second.mig;
      if (device.mig && !mig.empty() && device.uuid != mig) continue;  // other MIG devices on the same GPU
      (is_counted(resource, each) ? users[i].counted : users[i].uncounted).push_back(&each);
    }
  }
  return users;
}

std::string pod_name(const Allocation& allocation) {
  return (allocation.pod_namespace.empty() ? "" : allocation.pod_namespace + "/") + allocation.pod;
}

std::vector<std::string> pod_names(const std::vector<const Allocation*>& allocations) {
  std::set<std::string> names;
  for (const Allocation* each : allocations) names.insert(pod_name(*each));
  return {names.begin(), names.end()};
}

/// Returns text such as "shares it by time-slicing (nvidia.com/gpu)".
std::string how(const Allocation& allocation) {
  const bool is_replica = !nvidia::kubelet::parse_device_id(allocation.id).replica.empty();
  return fmt::format("{} ({})",
                     allocation.mps ? "shares it by MPS"
                     : is_replica   ? "shares it"
                                    : "has it for itself",
                     allocation.resource);
}

std::string offered_text(const Resource& resource, std::size_t device) {
  const auto replicas = std::ranges::count(resource.ids, device, &Id::device);
  if (!resource.shared()) return "is offered for exclusive use as " + resource.name;
  return fmt::format("is offered to {} containers as {} ({})", replicas, resource.name, to_string(resource.sharing));
}

std::string label_of(const Device& device, const std::vector<Gpu>& gpus) {
  const Gpu& gpu = gpus[device.position];
  return device.mig ? fmt::format("MIG device {} of {}", device.index, gpu.label()) : gpu.label();
}

SharingConflict conflict_of(const Resource& resource, std::size_t at, const Users& users,
                            const std::vector<Gpu>& gpus) {
  const Device& device = resource.devices[at];
  std::vector<std::string> uses;
  for (const Allocation* each : users.uncounted) {
    std::string use = fmt::format("pod {} {}", pod_name(*each), how(*each));
    if (std::ranges::find(uses, use) == uses.end()) uses.push_back(std::move(use));
  }
  SharingConflict conflict{.gpu = device.gpu,
                           .device = device.uuid,
                           .resource = resource.name,
                           .pods = pod_names(users.uncounted),
                           .text = fmt::format("{} {}, but {}", label_of(device, gpus), offered_text(resource, at),
                                               first_few(uses, kNamedPods)),
                           .remedy = {}};
  if (!users.counted.empty())
    conflict.text += "; kubelet has given it to pod " + first_few(pod_names(users.counted), kNamedPods) + " as well";
  const Allocation& first = *users.uncounted.front();
  const std::string command = first.pod_namespace.empty()
                                  ? std::string()
                                  : fmt::format(" (`kubectl delete pod -n {} {}`)", first.pod_namespace, first.pod);
  conflict.remedy = fmt::format(
      "wait until {} has ended, or delete it{}; until then new pods get this device only when no other is free",
      conflict.pods.size() == 1 ? "that pod" : "each of these pods", command);
  return conflict;
}

}  // namespace

std::vector<unsigned> uncounted_uses(const Resource& resource, const std::vector<Gpu>& gpus,
                                     const std::vector<Allocation>& allocations) {
  std::vector<unsigned> uses;
  for (const Users& each : users_of(resource, places_on(gpus), allocations))
    uses.push_back(static_cast<unsigned>(each.uncounted.size()));
  return uses;
}

std::vector<SharingConflict> sharing_conflicts(const Resources& resources, const std::vector<Gpu>& gpus,
                                               const std::vector<Allocation>& allocations) {
  const auto places = places_on(gpus);
  std::vector<SharingConflict> conflicts;
  for (const auto& [name, resource] : resources) {
    const std::vector<Users> users = users_of(resource, places, allocations);
    for (std::size_t i = 0; i < users.size(); ++i)
      if (!users[i].uncounted.empty()) conflicts.push_back(conflict_of(resource, i, users[i], gpus));
  }
  return conflicts;
}

std::vector<Allocation> allocations_on(const std::vector<Gpu>& gpus, const std::vector<Allocation>& allocations) {
  const auto places = places_on(gpus);
  std::vector<Allocation> found;
  std::ranges::copy_if(allocations, std::back_inserter(found), [&](const Allocation& each) {
    return places.contains(nvidia::kubelet::parse_device_id(each.id).key);
  });
  return found;
}

}  // namespace slipway::deviceplugin
