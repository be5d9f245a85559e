// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/pod_resources.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

#include <grpcpp/grpcpp.h>
#include <slipway/kubelet/podresources_v1.grpc.pb.h>

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kLimit{2};
constexpr int kLargestAnswer = 16 << 20;

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

Error failed(const grpc::Status& status, const std::string& socket) {
  const auto code = status.error_code() == grpc::StatusCode::UNAVAILABLE         ? ErrorCode::unreachable
                    : status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ? ErrorCode::timed_out
                                                                                 : ErrorCode::io;
  return Error{
      .code = code, .what = "kubelet does not say who holds devices: " + status.error_message(), .where = socket};
}

/// kubelet gives an entry for each device, and for each NUMA node of it.
std::vector<Holder> holders_of(const v1::ListPodResourcesResponse& answer, const std::vector<std::string>& resources) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> ids;
  for (const auto& pod : answer.pod_resources())
    for (const auto& container : pod.containers())
      for (const auto& devices : container.devices())
        if (is_one_of(devices.resource_name(), resources))
          ids[{pod.namespace_() + "/" + pod.name(), container.name(), devices.resource_name()}].insert(
              devices.device_ids().begin(), devices.device_ids().end());
  std::vector<Holder> holders;
  for (const auto& [key, set] : ids)
    holders.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), {set.begin(), set.end()}});
  return holders;
}

}  // namespace

Result<PodResources> read_pod_resources(const std::string& socket, const std::vector<std::string>& resources) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestAnswer);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto lister = v1::PodResourcesLister::NewStub(
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext listing;
  listing.set_deadline(std::chrono::system_clock::now() + kLimit);
  v1::ListPodResourcesResponse pods;
  if (const auto status = lister->List(&listing, {}, &pods); !status.ok()) return failed(status, socket);
  PodResources seen{holders_of(pods, resources), std::nullopt};
  grpc::ClientContext asking;
  asking.set_deadline(std::chrono::system_clock::now() + kLimit);
  v1::AllocatableResourcesResponse allocatable;
  const auto status = lister->GetAllocatableResources(&asking, {}, &allocatable);
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return seen;
  if (!status.ok()) return failed(status, socket);
  std::map<std::string, std::set<std::string>> ids;
  for (const auto& devices : allocatable.devices())
    if (is_one_of(devices.resource_name(), resources))
      ids[devices.resource_name()].insert(devices.device_ids().begin(), devices.device_ids().end());
  seen.allocatable.emplace();
  for (const std::string& name : resources) (*seen.allocatable)[name] = static_cast<long>(ids[name].size());
  return seen;
}

}  // namespace slipway::deviceplugin
