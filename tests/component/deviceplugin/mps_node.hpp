// SPDX-License-Identifier: Apache-2.0
// tests/component/deviceplugin/mps_node.hpp - a node whose GPUs are shared by MPS; the control daemon is a stand-in.
#pragma once

#include "tests/component/deviceplugin/node.hpp"

namespace slipway::testing {

constexpr const char* kGpuResource = "nvidia.com/gpu";
constexpr const char* kShared = "{quiet_seconds: 1, config: {version: v1, sharing: {mps: {replicas: 4}}}}";

class Mps : public ::testing::Test {
 protected:
  Mps() { ::setenv("SLIPWAY_MPS_CONTROL", SLIPWAY_MPS_STAND_IN, 1); }
  ~Mps() override {
    kill_daemon();
    ::unsetenv("SLIPWAY_MPS_CONTROL");
  }
  pid_t daemon() const { return std::atoi(node_.host().text(kFolder + "pipe/daemon").c_str()); }
  void kill_daemon() const {
    if (daemon() > 0) ::kill(daemon(), SIGKILL);
  }
  /// Log lines pass through the supervisor, so that they may appear a moment after the event.
  static bool says(const RunningService& service, const std::string& words) {
    return eventually([&] { return service.log().find(words) != std::string::npos; });
  }
  /// True when the service itself reports it: kubelet may still have the list of a former service.
  bool ready(const RunningService& service) const {
    return says(service, "the MPS control daemon is ready") && says(service, "registered with kubelet") &&
           eventually([&] { return kubelet_.healthy(kGpuResource) == 8; });
  }
  std::string told() const { return node_.host().text(kFolder + "log/commands"); }

  const std::string kFolder = "run/nvidia/mps/nvidia.com/gpu/";
  Node node_{"h100x2", kShared};
  Kubelet kubelet_{node_.plugins()};
};

}  // namespace slipway::testing
