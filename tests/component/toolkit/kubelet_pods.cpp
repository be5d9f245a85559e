// SPDX-License-Identifier: Apache-2.0
// kubelet-pods SOCKET [NAMESPACE/POD/CONTAINER RESOURCE ID]...: serves kubelet's pod resources API at a socket until a
// signal ends it: those containers hold those devices. It says "serving" once it does.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <slipway/kubelet/podresources_v1.grpc.pb.h>

namespace {

class Pods final : public v1::PodResourcesLister::Service {
 public:
  /// Adds a container in its own pod: kubelet's list may have them in any order.
  void add(const std::string& name, const std::string& resource, const std::string& id) {
    std::istringstream parts(name);
    std::string pod_namespace;
    std::string pod;
    std::string container;
    std::getline(std::getline(std::getline(parts, pod_namespace, '/'), pod, '/'), container);
    auto* const entry = answer_.add_pod_resources();
    entry->set_namespace_(pod_namespace);
    entry->set_name(pod);
    auto* const holder = entry->add_containers();
    holder->set_name(container);
    auto* const devices = holder->add_devices();
    devices->set_resource_name(resource);
    devices->add_device_ids(id);
  }
  grpc::Status List(grpc::ServerContext*, const v1::ListPodResourcesRequest*,
                    v1::ListPodResourcesResponse* out) override {
    *out = answer_;
    return grpc::Status::OK;
  }

 private:
  v1::ListPodResourcesResponse answer_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.size() % 3 != 1) {
    std::cerr << "usage: kubelet-pods SOCKET [NAMESPACE/POD/CONTAINER RESOURCE ID]...\n";
    return 64;
  }
  Pods pods;
  for (std::size_t i = 1; i < words.size(); i += 3) pods.add(words[i], words[i + 1], words[i + 2]);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + words[0], grpc::InsecureServerCredentials());
  builder.RegisterService(&pods);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::cout << "serving" << std::endl;
  server->Wait();
  return 0;
}
