// SPDX-License-Identifier: Apache-2.0
#include "toolkit/nri/pod_resources.hpp"

#include <algorithm>

#include <slipway/unix_socket.hpp>

#include "nvidia/kubelet/unary_call.hpp"
#include "slipway/kubelet/podresources_v1.pb.h"

namespace slipway::nri {
namespace {

constexpr const char* kResources = "nvidia.com/";
// Device plugins of other vendors allocate numbers, which would mean GPUs in NVIDIA_VISIBLE_DEVICES.
constexpr const char* kUuids[] = {"GPU-", "MIG-"};

void add_uuids(const v1::ContainerDevices& devices, std::vector<std::string>& into) {
  if (!devices.resource_name().starts_with(kResources)) return;
  for (const std::string& id : devices.device_ids()) {
    const std::string uuid = id.substr(0, id.find("::"));
    const bool is_one = std::ranges::any_of(kUuids, [&](const char* prefix) { return uuid.starts_with(prefix); });
    if (is_one && std::ranges::count(into, uuid) == 0) into.push_back(uuid);
  }
}

}  // namespace

Result<std::vector<std::string>> ask_kubelet(const Host& host, const std::string& socket, const ContainerName& name) {
  SLIPWAY_TRY(end, connect_to(host, socket));
  const auto text = nvidia::kubelet::call(end.get(), {.method = "/v1.PodResourcesLister/List", .message = {}});
  auto uuids = text ? uuids_in(*text, name) : Result<std::vector<std::string>>(text.error());
  if (uuids) return uuids;
  Error error = std::move(uuids).error();
  error.where = socket;
  return error;
}

Result<std::vector<std::string>> uuids_in(const std::string& answer, const ContainerName& name) {
  v1::ListPodResourcesResponse list;
  if (!list.ParseFromString(answer))
    return Error{ErrorCode::corrupt, "kubelet's list of pods cannot be read", {}, {}, {}};
  std::vector<std::string> uuids;
  for (const auto& pod : list.pod_resources()) {
    if (pod.name() != name.pod || pod.namespace_() != name.pod_namespace) continue;
    for (const auto& container : pod.containers())
      if (container.name() == name.container)
        for (const auto& devices : container.devices()) add_uuids(devices, uuids);
  }
  return uuids;
}

}  // namespace slipway::nri
