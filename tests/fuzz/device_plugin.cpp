// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/device_plugin.cpp - requests to the device plugin's gRPC service, on its socket: any bytes as a message of
// each method, and any bytes as a connection.
//
// Input: one byte that says which, then the bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "deviceplugin/service/grpc/plugin_server.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;
using namespace slipway::deviceplugin;

constexpr const char* kMethods[] = {"Allocate", "GetPreferredAllocation", "GetDevicePluginOptions",
                                    "PreStartContainer"};
constexpr std::size_t kGpus = 8;
constexpr unsigned kReplicas = 4;

Resource make_resource() {
  Resource resource;
  resource.name = "nvidia.com/gpu";
  resource.replicas = kReplicas;
  resource.sharing = SharingKind::time_slicing;
  for (std::size_t i = 0; i < kGpus; ++i) {
    const std::string uuid = "GPU-" + std::to_string(i);
    Device device;
    device.uuid = device.gpu = uuid;
    device.index = std::to_string(i);
    device.position = i;
    device.paths = {"/dev/nvidia" + device.index};
    resource.devices.push_back(device);
    for (unsigned replica = 0; replica < kReplicas; ++replica)
      resource.ids.push_back({uuid + "::" + std::to_string(replica), i});
  }
  std::ranges::sort(resource.ids, {}, &Id::id);
  return resource;
}

/// A device plugin as the service runs it, without kubelet; its answers are checked where they are created.
class Plugin {
 public:
  Plugin() : socket_((scratch_.folder() / "plugin.sock").string()) {
    auto server = PluginServer::start(thread_, *RootDir::open(scratch_.folder().string()), "/plugin.sock",
                                      {.allocate = [this](const auto& ids) { return grant(ids); },
                                       .prefer = [this](const auto& request) { return prefer(request); },
                                       .on_change = {}},
                                      std::make_shared<std::vector<Listed>>());
    fuzz::demand(server.ok(), "the server listens");
    server_ = std::move(*server);
    stub_ =
        std::make_unique<grpc::GenericStub>(grpc::CreateChannel("unix:" + socket_, grpc::InsecureChannelCredentials()));
  }

  void call(const std::string& method, std::string_view message) {
    const grpc::Slice slice(message.data(), message.size());
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto answer = stub_->PrepareUnaryCall(&context, "/v1beta1.DevicePlugin/" + method, request, &queue);
    answer->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    answer->Finish(&response, &status, this);
    void* tag = nullptr;
    bool good = false;
    fuzz::demand(queue.Next(&tag, &good) && tag == this, "a call has an end");
    fuzz::demand(status.error_code() != grpc::StatusCode::UNAVAILABLE, "the server is still there");
  }

  void connect(std::string_view bytes) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_.copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fuzz::demand(fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
                 "somebody listens");
    (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(fd, SHUT_WR);
    std::array<char, 4096> answer{};
    pollfd watched{fd, POLLIN, 0};
    while (::poll(&watched, 1, 2000) > 0 && ::recv(fd, answer.data(), answer.size(), 0) > 0) continue;
    ::close(fd);
  }

 private:
  Result<Grant> grant(const std::vector<std::string>& ids) const {
    auto granted = allocate(resource_, ids, settings_, {{"/dev/nvidiactl"}, {0}}, "key");
    fuzz::demand_presentable(granted);
    if (!granted) return granted;
    for (const std::string& id : ids) fuzz::demand(resource_.find(id) != nullptr, "only what is offered is granted");
    fuzz::demand(granted->devices.size() <= kGpus + 2, "a container gets each node once");
    return granted;
  }
  std::vector<std::string> prefer(const PreferredRequest& request) const {
    auto ids = preferred(resource_, request, settings_.policy, Nearness(kGpus));
    for (const std::string& id : ids) {
      const bool available = std::ranges::find(request.available, id) != request.available.end();
      fuzz::demand(available || std::ranges::find(request.required, id) != request.required.end(), "it was asked for");
    }
    return ids;
  }

  fuzz::Scratch scratch_;
  std::string socket_;
  Resource resource_ = make_resource();
  Settings settings_ = [] {
    Settings settings;
    settings.pass_device_specs = true;
    return settings;
  }();
  GrpcThread thread_;
  std::unique_ptr<PluginServer> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Plugin plugin;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t which = data[0] % (std::size(kMethods) + 1);
  if (which < std::size(kMethods))
    plugin.call(kMethods[which], bytes);
  else
    plugin.connect(bytes);
  return 0;
}
