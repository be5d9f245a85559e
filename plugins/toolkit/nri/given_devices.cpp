// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/given_devices.hpp"

#include <algorithm>
#include <chrono>

namespace slipway::nri {
namespace {

using nvidia::kubelet::ListedPod;

constexpr std::chrono::seconds kLimit{1};
constexpr const char* kResources = "nvidia.com/";
// Other vendors' device plugins may use numbers as ids, which NVIDIA_VISIBLE_DEVICES would take for GPUs.
constexpr const char* kUuids[] = {"GPU-", "MIG-"};

void add_uuid(const ListedPod::Device& device, std::vector<std::string>& into) {
  if (!device.resource.starts_with(kResources)) return;
  const std::string uuid = device.id.substr(0, device.id.find("::"));
  const bool is_one = std::ranges::any_of(kUuids, [&](const char* prefix) { return uuid.starts_with(prefix); });
  if (is_one && std::ranges::count(into, uuid) == 0) into.push_back(uuid);
}

}  // namespace

Result<std::vector<std::string>> ask_kubelet(const Host& host, const std::string& socket, const ContainerName& name) {
  auto pods = nvidia::kubelet::list_pods(host, socket, kLimit);
  if (pods) return uuids_in(*pods, name);
  Error error = std::move(pods).error();
  error.where = socket;
  return error;
}

std::vector<std::string> uuids_in(const std::vector<ListedPod>& pods, const ContainerName& name) {
  std::vector<std::string> uuids;
  for (const ListedPod& pod : pods) {
    if (pod.name != name.pod || pod.pod_namespace != name.pod_namespace) continue;
    for (const ListedPod::Container& container : pod.containers)
      if (container.name == name.container)
        for (const ListedPod::Device& device : container.devices) add_uuid(device, uuids);
  }
  return uuids;
}

}  // namespace slipway::nri
