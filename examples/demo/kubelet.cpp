// SPDX-License-Identifier: Apache-2.0
// demo-kubelet KUBELET_ROOT STATUS_FILE: the part of kubelet for device plugins, on a machine without kubelet.
//
// Device plugins register at KUBELET_ROOT/device-plugins/kubelet.sock and list their devices. STATUS_FILE gets what
// kubelet would put into the node's status from these lists, and kubelet's own checkpoint gets it too. SIGTERM ends it.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <slipway/kubelet/deviceplugin_v1beta1.grpc.pb.h>

namespace {

namespace fs = std::filesystem;
using Devices = std::map<std::string, bool>;  // by id: true for a healthy device

/// Replaces a file in one step, so that no reader sees a partial file.
void replace(const fs::path& file, const std::string& text) {
  const fs::path fresh = file.string() + ".new";
  std::ofstream(fresh) << text;
  fs::rename(fresh, file);
}

/// Empties the folder, as kubelet does at its start: device plugins that registered before must register again.
void empty_folder(const fs::path& folder) {
  fs::create_directories(folder);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  for (const fs::path& file : files) fs::remove(file);
}

class Kubelet final : public v1beta1::Registration::Service {
 public:
  Kubelet(fs::path folder, fs::path status) : folder_(std::move(folder)), status_(std::move(status)) {
    empty_folder(folder_);
    tell();
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + (folder_ / "kubelet.sock").string(), grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Kubelet() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    for (const auto& stream : streams_) stream->TryCancel();
    for (std::thread& reader : readers_) reader.join();
    empty_folder(folder_);
  }
  bool listens() const { return server_ != nullptr; }

  /// kubelet opens the stream of lists before it answers.
  grpc::Status Register(grpc::ServerContext*, const v1beta1::RegisterRequest* request, v1beta1::Empty*) override {
    if (request->version() != "v1beta1") return {grpc::StatusCode::INVALID_ARGUMENT, "only v1beta1 is known here"};
    const auto channel = grpc::CreateChannel("unix:" + (folder_ / request->endpoint()).string(),  //
                                             grpc::InsecureChannelCredentials());
    const auto stream = std::make_shared<grpc::ClientContext>();
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
    readers_.emplace_back([this, name = request->resource_name(), stream,
                           plugin = std::shared_ptr(v1beta1::DevicePlugin::NewStub(channel))] {
      const auto reader = plugin->ListAndWatch(stream.get(), {});
      for (v1beta1::ListAndWatchResponse list; reader->Read(&list);) take(name, list);
      (void)reader->Finish();
      lose(name);
    });
    return grpc::Status::OK;
  }

 private:
  void take(const std::string& resource, const v1beta1::ListAndWatchResponse& list) {
    const std::lock_guard lock(mutex_);
    Devices& devices = resources_[resource];
    devices.clear();
    for (const auto& device : list.devices()) devices[device.id()] = device.health() == "Healthy";
    tell();
  }

  /// Without a stream, no plugin can report its devices as healthy.
  void lose(const std::string& resource) {
    const std::lock_guard lock(mutex_);
    for (auto& [id, healthy] : resources_[resource]) healthy = false;
    tell();
  }

  void tell() const {
    std::string capacity;
    std::string allocatable;
    std::string registered;
    for (const auto& [name, devices] : resources_) {
      std::size_t healthy = 0;
      std::string ids;
      for (const auto& [id, well] : devices) {
        healthy += well ? 1U : 0U;
        ids += (ids.empty() ? "\"" : ",\"") + id + "\"";
      }
      capacity += "  " + name + ": " + std::to_string(devices.size()) + "\n";
      allocatable += "  " + name + ": " + std::to_string(healthy) + "\n";
      registered += (registered.empty() ? "\"" : ",\"") + name + "\":[" + ids + "]";
    }
    replace(status_, "Capacity:\n" + capacity + "Allocatable:\n" + allocatable);
    replace(folder_ / "kubelet_internal_checkpoint",
            R"({"Data":{"PodDeviceEntries":null,"RegisteredDevices":{)" + registered + R"(}},"Checksum":0})");
  }

  fs::path folder_;
  fs::path status_;
  std::mutex mutex_;
  std::map<std::string, Devices> resources_;
  std::vector<std::shared_ptr<grpc::ClientContext>> streams_;
  std::vector<std::thread> readers_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("Usage: demo-kubelet KUBELET_ROOT STATUS_FILE\n", stderr);
    return 64;
  }
  sigset_t ends;  // blocked before threads are started, which inherit the mask
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, number);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  try {
    const Kubelet kubelet(fs::path(words[1]) / "device-plugins", words[2]);
    if (!kubelet.listens()) return 1;
    int number = 0;
    sigwait(&ends, &number);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "demo-kubelet: %s\n", problem.what());
    return 1;
  }
}
