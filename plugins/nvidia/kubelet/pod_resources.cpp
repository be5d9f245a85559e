// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/pod_resources.hpp"

#include <algorithm>
#include <set>

#include <slipway/unix_socket.hpp>

#include "nvidia/kubelet/unary_call.hpp"
#include "slipway/kubelet/podresources_v1.pb.h"

namespace slipway::nvidia::kubelet {
namespace {

constexpr std::chrono::seconds kAllocatableLimit{3};
constexpr std::size_t kLongestName = 253;  // limit for a pod or namespace name in Kubernetes

Result<std::string> ask_pod_resources(const Host& host, const std::string& socket, const std::string& method,
                                      std::chrono::milliseconds limit) {
  SLIPWAY_TRY(end, connect_to(host, socket));
  return call(end.get(), {.method = "/v1.PodResourcesLister/" + method, .message = {}, .limit = limit});
}

Error cannot_be_read(const char* what) {
  return Error{ErrorCode::corrupt, std::string("kubelet's list of ") + what + " cannot be read", {}, {}, {}};
}

Error too_many_devices() {
  return Error{ErrorCode::corrupt,
               "kubelet reports more than " + std::to_string(kMostDevices) + " allocated devices",
               {},
               {},
               {}};
}

bool is_name(const std::string& text) { return text.size() <= kLongestName; }

ListedPod::Container listed_container(const v1::ContainerResources& container) {
  ListedPod::Container listed{container.name(), {}};
  for (const auto& devices : container.devices())  // an entry for each device and NUMA node
    for (const std::string& id : devices.device_ids())
      if (is_name(devices.resource_name()) && is_name(id)) listed.devices.push_back({devices.resource_name(), id});
  return listed;
}

std::size_t count_devices(const v1::ListPodResourcesResponse& list) {
  std::size_t count = 0;
  for (const auto& pod : list.pod_resources())
    for (const auto& container : pod.containers())
      for (const auto& devices : container.devices()) count += static_cast<std::size_t>(devices.device_ids_size());
  return count;
}

}  // namespace

Result<std::vector<ListedPod>> parse_pods(const std::string& answer) {
  v1::ListPodResourcesResponse list;
  if (!list.ParseFromString(answer)) return cannot_be_read("pods");
  if (count_devices(list) > kMostDevices) return too_many_devices();
  std::vector<ListedPod> pods;
  for (const auto& pod : list.pod_resources()) {
    if (!is_name(pod.name()) || !is_name(pod.namespace_())) continue;
    ListedPod& listed = pods.emplace_back(ListedPod{pod.namespace_(), pod.name(), {}});
    for (const auto& container : pod.containers())
      if (is_name(container.name())) listed.containers.push_back(listed_container(container));
  }
  return pods;
}

Result<std::vector<ListedPod>> list_pods(const Host& host, const std::string& socket, std::chrono::milliseconds limit) {
  SLIPWAY_TRY(answer, ask_pod_resources(host, socket, "List", limit));
  return parse_pods(answer);
}

Result<std::optional<std::map<std::string, std::vector<std::string>>>> list_allocatable(const Host& host,
                                                                                        const std::string& socket) {
  using Allocatable = std::optional<std::map<std::string, std::vector<std::string>>>;
  const auto answer = ask_pod_resources(host, socket, "GetAllocatableResources", kAllocatableLimit);
  if (!answer && answer.error().code == ErrorCode::unsupported) return Allocatable();
  if (!answer) return answer.error();
  v1::AllocatableResourcesResponse list;
  if (!list.ParseFromString(*answer)) return cannot_be_read("allocatable devices");
  std::map<std::string, std::set<std::string>> found;
  for (const auto& devices : list.devices())
    found[devices.resource_name()].insert(devices.device_ids().begin(), devices.device_ids().end());
  Allocatable allocatable(std::in_place);
  for (const auto& [name, ids] : found) allocatable->emplace(name, std::vector<std::string>(ids.begin(), ids.end()));
  return allocatable;
}

}  // namespace slipway::nvidia::kubelet
