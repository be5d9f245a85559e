// SPDX-License-Identifier: Apache-2.0
// tests/component/deviceplugin/kubelet.hpp - a stand-in for kubelet's device manager: registration, lists, allocation.
//
// It keeps to the order of kubelet's own calls: within Register, before it answers, it dials the plugin and asks for
// its options; then it opens the stream; an allocation asks for a preference first. At start it empties the folder of
// sockets, as kubelet does.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <slipway/kubelet/deviceplugin_v1beta1.grpc.pb.h>
#include <slipway/kubelet/podresources_v1.grpc.pb.h>

namespace slipway::testing {

/// Waits until the kernel stamps new files with another time. A real kubelet is never back within the tick (1 to 10 ms)
/// of the one before; a stand-in that is back so soon may give its socket the same inode number and time of birth, so
/// that the two sockets look identical.
void wait_for_next_tick();

class Kubelet final : public v1beta1::Registration::Service {
 public:
  /// Differences between releases that a plugin can see.
  struct Release {
    bool dials_before_it_answers = true;  ///< within Register; until 1.24 after the answer, in the background
    bool takes_cdi_devices = true;        ///< field 5 of an allocation is used (since 1.28)
    bool tells_allocatable = true;        ///< GetAllocatableResources (since 1.21)
  };
  /// Listens at FOLDER/kubelet.sock, and accepts messages of 4 MiB, like kubelet.
  explicit Kubelet(std::string folder) : Kubelet(std::move(folder), Release()) {}
  Kubelet(std::string folder, Release release);
  ~Kubelet() override;

  struct Resource {
    std::map<std::string, v1beta1::Device> devices;
    bool connected = false;
    unsigned lists = 0;          ///< messages that came
    unsigned registrations = 0;  ///< since this stand-in started
  };
  Resource of(const std::string& resource) const;
  std::size_t healthy(const std::string& resource) const;
  std::size_t capacity(const std::string& resource) const;
  std::set<std::string> resources() const;

  struct Allocated {
    grpc::Status status;
    std::vector<std::string> ids;
    v1beta1::ContainerAllocateResponse response;
  };
  /// Handles one container's request like kubelet: free healthy devices, a preference, then Allocate.
  Allocated allocate(const std::string& resource, unsigned count);
  /// Exactly these ids.
  Allocated allocate_ids(const std::string& resource, const std::vector<std::string>& ids);
  void free(const std::vector<std::string>& ids);
  std::vector<std::string> prefer(const std::string& resource, const std::vector<std::string>& available, int size);
  v1beta1::DevicePluginOptions options_of(const std::string& resource) const;

  /// Answers Register with this error from now on; empty: accepts all.
  void refuse(std::string why);
  /// The next answers to GetAllocatableResources contain no device, like those of a kubelet that has not read its
  /// plugins' lists yet.
  void set_late_answers(unsigned answers);
  /// Drops the stream of a resource, like a kubelet that lacks resources.
  void drop_stream(const std::string& resource);

  /// Asks the sockets in a folder for their identity, like kubelet's plugin watcher; @return the accepted ones.
  unsigned look_into_registry(const std::string& folder);
  /// Serves pod resources at this socket: the holders of the allocations made here.
  void serve_pod_resources(const std::string& socket);

  grpc::Status Register(grpc::ServerContext* context, const v1beta1::RegisterRequest* request,
                        v1beta1::Empty* answer) override;

 private:
  struct Plugin {
    std::unique_ptr<v1beta1::DevicePlugin::Stub> stub;
    std::shared_ptr<grpc::ClientContext> stream;
    v1beta1::DevicePluginOptions options;
    Resource resource;
  };
  class PodResources;
  grpc::Status take(const std::string& resource, const std::string& socket);
  void listen_to(const std::string& resource, std::shared_ptr<grpc::ClientContext> context,
                 v1beta1::DevicePlugin::Stub& stub);
  v1beta1::DevicePlugin::Stub* stub_of(const std::string& resource);

  std::string folder_;
  Release release_;
  mutable std::mutex mutex_;
  std::string refusal_;
  std::map<std::string, Plugin> plugins_;
  std::vector<std::unique_ptr<v1beta1::DevicePlugin::Stub>> former_;
  std::map<std::string, std::string> used_;  ///< the resource of each id that a container has
  unsigned late_answers_ = 0;
  std::vector<std::thread> readers_;
  std::vector<std::thread> dialers_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<PodResources> pod_resources_;
  std::unique_ptr<grpc::Server> pod_resources_server_;
};

}  // namespace slipway::testing
