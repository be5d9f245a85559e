// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/registration_server.hpp"

#include <chrono>

#include <grpcpp/grpcpp.h>
#include <slipway/kubelet/pluginregistration_v1.grpc.pb.h>

namespace slipway::deviceplugin {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;
namespace api = pluginregistration;

constexpr std::chrono::seconds kRegistrationEndLimit{1};

class Running final : public RegistrationServer, private api::Registration::CallbackService {
 public:
  Running(std::string resource, std::string endpoint, RegistrationTold told)
      : resource_(std::move(resource)), endpoint_(std::move(endpoint)), told_(std::move(told)) {}
  ~Running() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + kRegistrationEndLimit);
  }

  bool listen(const std::string& socket) {
    int bound = 0;
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials(), &bound);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    return server_ != nullptr && bound != 0;
  }

 private:
  ServerUnaryReactor* GetInfo(CallbackServerContext* context, const api::InfoRequest*, api::PluginInfo* info) override {
    info->set_type("DevicePlugin");
    info->set_name(resource_);
    info->set_endpoint(endpoint_);
    info->add_supported_versions("v1beta1");
    return finish(context);
  }
  ServerUnaryReactor* NotifyRegistrationStatus(CallbackServerContext* context, const api::RegistrationStatus* status,
                                               api::RegistrationStatusResponse*) override {
    told_(status->plugin_registered(), status->error());
    return finish(context);
  }
  static ServerUnaryReactor* finish(CallbackServerContext* context) {
    ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  std::string resource_;
  std::string endpoint_;
  RegistrationTold told_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

Result<std::unique_ptr<RegistrationServer>> RegistrationServer::start(const std::string& socket,
                                                                      const std::string& resource,
                                                                      const std::string& endpoint,
                                                                      RegistrationTold told) {
  auto server = std::make_unique<Running>(resource, endpoint, std::move(told));
  if (!server->listen(socket))
    return Error{.code = ErrorCode::io,
                 .what = "cannot listen on the socket",
                 .where = socket,
                 .next = "see that its folder is there and can be written to"};
  return std::unique_ptr<RegistrationServer>(std::move(server));
}

}  // namespace slipway::deviceplugin
