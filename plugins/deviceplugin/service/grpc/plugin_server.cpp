// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/plugin_server.hpp"

#include <algorithm>

#include <slipway/kubelet/deviceplugin_v1beta1.pb.h>

namespace slipway::deviceplugin {
namespace {

const std::string kService = "/v1beta1.DevicePlugin/";

GrpcReply unreadable() { return {GrpcStatus::internal, "the message cannot be read"}; }

GrpcReply refusal_of(const Error& error) {
  const std::string words = error.what + (error.next.empty() ? "" : ": " + error.next);
  return {error.code == ErrorCode::busy ? GrpcStatus::unavailable : GrpcStatus::invalid_argument, words};
}

void fill(const Grant& grant, v1beta1::ContainerAllocateResponse& response) {
  for (const auto& [name, value] : grant.env) (*response.mutable_envs())[name] = value;
  for (const auto& [name, value] : grant.annotations) (*response.mutable_annotations())[name] = value;
  for (const Mount& mount : grant.mounts) {
    auto* const out = response.add_mounts();
    out->set_container_path(mount.container_path);
    out->set_host_path(mount.host_path);
    out->set_read_only(mount.read_only);
  }
  for (const DeviceSpec& device : grant.devices) {
    auto* const out = response.add_devices();
    out->set_container_path(device.container_path);
    out->set_host_path(device.host_path);
    out->set_permissions(device.permissions);
  }
  for (const std::string& name : grant.cdi_devices) response.add_cdi_devices()->set_name(name);
}

GrpcReply options() {
  v1beta1::DevicePluginOptions options;
  options.set_get_preferred_allocation_available(true);
  return {.text = options.SerializeAsString()};
}

GrpcReply prefer(const PluginCalls& calls, const std::string& question) {
  v1beta1::PreferredAllocationRequest request;
  if (!request.ParseFromString(question)) return unreadable();
  v1beta1::PreferredAllocationResponse response;
  for (const auto& container : request.container_requests()) {
    const PreferredRequest asked{{container.available_deviceids().begin(), container.available_deviceids().end()},
                                 {container.must_include_deviceids().begin(), container.must_include_deviceids().end()},
                                 static_cast<std::size_t>(std::max(container.allocation_size(), 0))};
    auto* const out = response.add_container_responses();
    for (const std::string& id : calls.prefer(asked)) out->add_deviceids(id);
  }
  return {.text = response.SerializeAsString()};
}

GrpcReply allocate(const PluginCalls& calls, const std::string& question) {
  v1beta1::AllocateRequest request;
  if (!request.ParseFromString(question)) return unreadable();
  v1beta1::AllocateResponse response;
  for (const auto& container : request.container_requests()) {
    const auto grant = calls.allocate({container.devices_ids().begin(), container.devices_ids().end()});
    if (!grant) return refusal_of(grant.error());
    fill(*grant, *response.add_container_responses());
  }
  return {.text = response.SerializeAsString()};
}

GrpcMessage message_of(const DeviceList& list) {
  v1beta1::ListAndWatchResponse message;
  message.mutable_devices()->Reserve(static_cast<int>(list->size()));
  for (const Listed& device : *list) {
    v1beta1::Device* const out = message.add_devices();
    out->set_id(device.id);
    out->set_health(device.healthy ? "Healthy" : "Unhealthy");
    // Node 0 is an empty message on the wire, and must still be present: without it the device has no NUMA node.
    if (device.numa_node) out->mutable_topology()->add_nodes()->set_id(*device.numa_node);
  }
  return grpc_message(message.SerializeAsString());
}

GrpcMethods methods_of(PluginCalls calls) {
  const auto shared = std::make_shared<const PluginCalls>(std::move(calls));
  GrpcMethods methods;
  methods.feed = kService + "ListAndWatch";
  methods.of[kService + "GetDevicePluginOptions"] = [](const std::string&) { return options(); };
  methods.of[kService + "PreStartContainer"] = [](const std::string&) { return GrpcReply(); };
  methods.of[kService + "GetPreferredAllocation"] = [shared](const std::string& text) { return prefer(*shared, text); };
  methods.of[kService + "Allocate"] = [shared](const std::string& text) { return allocate(*shared, text); };
  return methods;
}

}  // namespace

Result<std::unique_ptr<PluginServer>> PluginServer::start(GrpcThread& thread, const RootDir& root,
                                                          const std::string& socket, PluginCalls calls,
                                                          const DeviceList& list) {
  std::unique_ptr<PluginServer> plugin(new PluginServer);
  auto on_change = calls.on_change;
  SLIPWAY_TRY(server, GrpcServer::start(thread, root,
                                        {.socket = socket,
                                         .methods = methods_of(std::move(calls)),
                                         .newest = message_of(list),
                                         .on_change = std::move(on_change)}));
  plugin->server_ = std::move(server);
  return plugin;
}

void PluginServer::show(const DeviceList& list) { server_->show(message_of(list)); }

}  // namespace slipway::deviceplugin
