// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/holders.hpp - which containers hold which GPUs, out of kubelet's list of pods.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::nvidia::kubelet {

/// A container that has been given a device.
struct Holder {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  std::string replica;  ///< its number, of a device that several share; empty: the device is not shared

  auto operator<=>(const Holder&) const = default;
};

/// By device, sorted, each holder once: "GPU-…", "MIG-…", "GPU-…/3" (the GPU instance 3), or GKE's "nvidia0" and
/// "nvidia0/gi3".
using Holders = std::map<std::string, std::vector<Holder>, std::less<>>;

inline constexpr std::size_t kMostHolders = 256;  ///< of one device; further ones are left out

/// The containers with resources nvidia.com/gpu, nvidia.com/mig-… and `more_resources`, out of the answer to
/// v1.PodResourcesLister/List. Errors: `corrupt` it is none.
Result<Holders> holders_in(const std::string& answer, const std::vector<std::string>& more_resources);

/// A device's key, and the number of the replica: "GPU-1::3" -> "GPU-1" and "3".
struct DeviceId {
  std::string key;
  std::string replica;
};
DeviceId parse_device_id(std::string_view id);

}  // namespace slipway::nvidia::kubelet
