// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/gpu_pods.hpp - the containers that hold each GPU, by device.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nvidia/kubelet/allocations.hpp"

namespace slipway::nvidia::kubelet {

/// A container with a device.
struct GpuPod {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  std::string replica;  ///< replica number of a shared device; empty: the device is not shared
  bool init_container = false;
  bool from_checkpoint = false;  ///< only kubelet's checkpoint has it

  auto operator<=>(const GpuPod&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0
};

/// By device, sorted, each holder once: "GPU-…", "MIG-…", "GPU-…/3" (the GPU instance 3), or GKE's "nvidia0" and
/// "nvidia0/gi3".
using GpuPods = std::map<std::string, std::vector<GpuPod>, std::less<>>;

inline constexpr std::size_t kMostGpuPods = 256;  ///< per device; further ones are left out

/// Returns the holders of all these devices.
GpuPods gpu_pods_of(const std::vector<Allocation>& allocations);
/// Returns the holders of the resources nvidia.com/gpu, nvidia.com/mig-… and `more_resources`.
GpuPods gpu_pods_of(const std::vector<Allocation>& allocations, const std::vector<std::string>& more_resources);

/// A device's key, and the number of the replica: "GPU-1::3" -> "GPU-1" and "3".
struct DeviceId {
  std::string key;
  std::string replica;
};
DeviceId parse_device_id(std::string_view id);

}  // namespace slipway::nvidia::kubelet
