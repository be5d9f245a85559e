// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/grpc/plugin_server.hpp"

#include <chrono>

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <slipway/kubelet/deviceplugin_v1beta1.grpc.pb.h>

#include "deviceplugin/service/grpc/watchers.hpp"

namespace slipway::deviceplugin {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

constexpr std::chrono::seconds kRegisterLimit{10};
constexpr std::chrono::seconds kPluginEndLimit{2};
constexpr std::size_t kLongestSocketPath = 107;

ServerUnaryReactor* finish(CallbackServerContext* context, const grpc::Status& status) {
  ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::Status status_of(const Error& error) {
  const std::string words = error.what + (error.next.empty() ? "" : ": " + error.next);
  if (error.code == ErrorCode::busy) return {grpc::StatusCode::UNAVAILABLE, words};
  return {grpc::StatusCode::INVALID_ARGUMENT, words};
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

/// Quick answers from memory, so that they are given on gRPC's own threads.
class Plugin final : public v1beta1::DevicePlugin::CallbackService {
 public:
  Plugin(PluginCalls calls, const DeviceList& list)
      : watchers_(std::make_shared<Watchers>(list)), calls_(std::move(calls)) {}
  Watchers& watchers() { return *watchers_; }

  ServerUnaryReactor* GetDevicePluginOptions(CallbackServerContext* context, const v1beta1::Empty*,
                                             v1beta1::DevicePluginOptions* options) override {
    options->set_get_preferred_allocation_available(true);
    return finish(context, grpc::Status::OK);
  }
  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* ListAndWatch(CallbackServerContext*,
                                                                        const v1beta1::Empty*) override {
    return watchers_->open();
  }
  ServerUnaryReactor* GetPreferredAllocation(CallbackServerContext* context,
                                             const v1beta1::PreferredAllocationRequest* request,
                                             v1beta1::PreferredAllocationResponse* response) override {
    for (const auto& container : request->container_requests()) {
      const PreferredRequest asked{
          {container.available_deviceids().begin(), container.available_deviceids().end()},
          {container.must_include_deviceids().begin(), container.must_include_deviceids().end()},
          static_cast<std::size_t>(std::max(container.allocation_size(), 0))};
      auto* const out = response->add_container_responses();
      for (const std::string& id : calls_.prefer(asked)) out->add_deviceids(id);
    }
    return finish(context, grpc::Status::OK);
  }
  ServerUnaryReactor* Allocate(CallbackServerContext* context, const v1beta1::AllocateRequest* request,
                               v1beta1::AllocateResponse* response) override {
    for (const auto& container : request->container_requests()) {
      const auto grant = calls_.allocate({container.devices_ids().begin(), container.devices_ids().end()});
      if (!grant) return finish(context, status_of(grant.error()));
      fill(*grant, *response->add_container_responses());
    }
    return finish(context, grpc::Status::OK);
  }
  ServerUnaryReactor* PreStartContainer(CallbackServerContext* context, const v1beta1::PreStartContainerRequest*,
                                        v1beta1::PreStartContainerResponse*) override {
    return finish(context, grpc::Status::OK);
  }

 private:
  std::shared_ptr<Watchers> watchers_;
  PluginCalls calls_;
};

class RunningServer final : public PluginServer {
 public:
  RunningServer(PluginCalls calls, const DeviceList& list) : plugin_(std::move(calls), list) {}
  ~RunningServer() override {
    if (!server_) return;
    plugin_.watchers().end_all(true);
    server_->Shutdown(std::chrono::system_clock::now() + kPluginEndLimit);
    server_->Wait();
  }

  bool listen(const std::string& socket) {
    int bound = 0;
    grpc::ServerBuilder builder;
    // Two servers may meet at a path while one ends: the path, not a shared port, says who serves.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials(), &bound);
    builder.RegisterService(&plugin_);
    server_ = builder.BuildAndStart();
    return server_ != nullptr && bound != 0;
  }
  void show(DeviceList list) override { plugin_.watchers().show(list); }
  unsigned streams() const override { return const_cast<Plugin&>(plugin_).watchers().count(); }
  void end_streams() override { plugin_.watchers().end_all(false); }

 private:
  Plugin plugin_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

GrpcThreads::GrpcThreads() { grpc_init(); }

GrpcThreads::~GrpcThreads() { grpc_shutdown(); }

Result<std::unique_ptr<PluginServer>> PluginServer::start(const std::string& socket, PluginCalls calls,
                                                          DeviceList list) {
  if (socket.size() > kLongestSocketPath)
    return Error{.code = ErrorCode::io, .what = "the path of the socket is too long: " + socket, .where = socket};
  auto server = std::make_unique<RunningServer>(std::move(calls), list);
  if (!server->listen(socket))
    return Error{.code = ErrorCode::io,
                 .what = "cannot listen on the socket",
                 .where = socket,
                 .next = "see that its folder is there and can be written to"};
  return std::unique_ptr<PluginServer>(std::move(server));
}

Status register_with_kubelet(const std::string& kubelet_socket, const std::string& endpoint,
                             const std::string& resource) {
  // A channel of its own for each try: gRPC would share one, and with it the back-off of a kubelet that was away.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto kubelet = v1beta1::Registration::NewStub(
      grpc::CreateCustomChannel("unix:" + kubelet_socket, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kRegisterLimit);
  v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(endpoint);
  request.set_resource_name(resource);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  v1beta1::Empty answer;
  const grpc::Status status = kubelet->Register(&context, request, &answer);
  if (status.ok()) return {};
  const auto code = status.error_code() == grpc::StatusCode::UNAVAILABLE         ? ErrorCode::unreachable
                    : status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ? ErrorCode::timed_out
                                                                                 : ErrorCode::denied;
  return Error{.code = code,
               .what = "kubelet does not take " + resource + ": " + status.error_message(),
               .where = kubelet_socket,
               .next = "it is tried again; see that kubelet runs, and what its log says"};
}

}  // namespace slipway::deviceplugin
