// SPDX-License-Identifier: Apache-2.0
// tests/component/deviceplugin/offered.hpp - kubelet's folders in a root, and what a device plugin offers there, for
// tests of the parts without NVML.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/endpoint/endpoint.hpp"

namespace slipway::testing {

inline constexpr const char* kGpu = "nvidia.com/gpu";

inline deviceplugin::Snapshot snapshot_of(unsigned gpus, unsigned replicas, unsigned sick) {
  deviceplugin::Snapshot snapshot;
  for (unsigned i = 0; i < gpus; ++i) {
    deviceplugin::Gpu gpu;
    gpu.uuid = "GPU-" + std::to_string(i);
    gpu.index = i;
    gpu.compute_major = 9;
    snapshot.gpus.push_back(gpu);
  }
  snapshot.nearness = deviceplugin::Nearness(gpus);
  if (replicas > 1) {
    snapshot.settings.sharing.kind = deviceplugin::SharingKind::time_slicing;
    snapshot.settings.sharing.resources.push_back({.replicas = replicas});
  }
  if (sick < gpus) snapshot.health["GPU-" + std::to_string(sick)] = {false, "lost", "it is lost", ""};
  deviceplugin::Remarks remarks;
  snapshot.resources = *deviceplugin::make_resources(snapshot.gpus, snapshot.settings, remarks);
  return snapshot;
}

inline bool wait_for(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

/// A root with kubelet's folders.
class KubeletRoot {
 public:
  KubeletRoot() { std::filesystem::create_directories(plugins()); }
  std::string plugins() const { return folder_.at("device-plugins").string(); }
  std::string registry() const { return folder_.at("plugins_registry").string(); }
  std::string kubelet_socket() const { return plugins() + "/kubelet.sock"; }
  RootDir root() const { return *RootDir::open(folder_.string()); }
  static deviceplugin::EndpointPaths paths() {
    return {.folder = "/device-plugins",
            .kubelet_socket = "/device-plugins/kubelet.sock",
            .registry = "/plugins_registry",
            .in_registry = false};
  }

 private:
  TempDir folder_;
};

/// Creates a socket, with or without a listener; without one the file stays, like that of a killed process.
inline Fd socket_at(const std::string& path, bool listens) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  if (listens && ::listen(fd.get(), 8) != 0) return {};
  return fd;
}

/// Leaves the socket of a killed kubelet.
inline void leave_socket(const std::string& path) { (void)socket_at(path, false); }

}  // namespace slipway::testing
