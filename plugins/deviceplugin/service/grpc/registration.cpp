// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/registration.hpp"

#include <slipway/kubelet/deviceplugin_v1beta1.pb.h>
#include <slipway/kubelet/pluginregistration_v1.pb.h>
#include <sys/socket.h>

#include <slipway/unix_socket.hpp>

#include "nvidia/kubelet/unary_call.hpp"

namespace slipway::deviceplugin {
namespace {

namespace registration = pluginregistration;

constexpr std::chrono::seconds kRegisterLimit{10};  // kubelet's own time limit for dialling the plugin

const std::string kRegistrationService = "/pluginregistration.Registration/";

GrpcReply info_of(const std::string& resource, const std::string& endpoint) {
  registration::PluginInfo info;
  info.set_type("DevicePlugin");
  info.set_name(resource);
  info.set_endpoint(endpoint);
  info.add_supported_versions("v1beta1");
  return {.text = info.SerializeAsString()};
}

GrpcReply take_status(const RegistrationTold& told, const std::string& text) {
  registration::RegistrationStatus status;
  if (!status.ParseFromString(text)) return {GrpcStatus::internal, "the message cannot be read"};
  told(status.plugin_registered(), status.error());
  return {};
}

}  // namespace

Status register_with_kubelet(const RootDir& root, const std::string& kubelet_socket, const std::string& endpoint,
                             const std::string& resource, const std::stop_token& stop) {
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(endpoint);
  request.set_resource_name(resource);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  auto connection = connect_to(root, kubelet_socket);
  if (!connection) {
    if (connection.error().code != ErrorCode::unreachable) return connection.error();
    return Error{.code = ErrorCode::unreachable,
                 .what = "kubelet does not run: its socket exists, but no process listens on it",
                 .where = kubelet_socket,
                 .next = resource + " is registered as soon as kubelet has started"};
  }
  const std::stop_callback hang_up(stop, [&connection] { (void)::shutdown(connection->get(), SHUT_RDWR); });
  const auto answer = nvidia::kubelet::call(
      connection->get(),
      {.method = "/v1beta1.Registration/Register", .message = request.SerializeAsString(), .limit = kRegisterLimit});
  if (answer) return {};
  return Error{.code = answer.error().code,
               .what = "kubelet does not accept " + resource + ": " + answer.error().what,
               .where = kubelet_socket,
               .next = "the service tries again by itself; check that kubelet runs, and read kubelet's log"};
}

Result<std::unique_ptr<RegistrationServer>> RegistrationServer::start(GrpcThread& thread, const RootDir& root,
                                                                      const std::string& socket,
                                                                      const std::string& resource,
                                                                      const std::string& endpoint,
                                                                      RegistrationTold told) {
  GrpcMethods methods;
  methods.of[kRegistrationService + "GetInfo"] = [resource, endpoint](const std::string&) {
    return info_of(resource, endpoint);
  };
  methods.of[kRegistrationService + "NotifyRegistrationStatus"] = [told = std::move(told)](const std::string& text) {
    return take_status(told, text);
  };
  std::unique_ptr<RegistrationServer> registration(new RegistrationServer);
  SLIPWAY_TRY(server,
              GrpcServer::start(thread, root,
                                {.socket = socket, .methods = std::move(methods), .newest = {}, .on_change = {}}));
  registration->server_ = std::move(server);
  return registration;
}

}  // namespace slipway::deviceplugin
