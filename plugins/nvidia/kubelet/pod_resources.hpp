// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_resources.hpp - kubelet's pod resources API: which containers have which devices, and how
// many of a resource it can allocate.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::kubelet {

inline constexpr const char* kPodResourcesSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";
/// The same below kubelet's folder.
inline constexpr const char* kPodResourcesBelowRoot = "/pod-resources/kubelet.sock";

/// Pods that are active: init containers are not among their containers, but for those that restart (sidecars).
struct ListedPod {
  struct Device {
    std::string resource;
    std::string id;
  };
  struct Container {
    std::string name;
    std::vector<Device> devices;
  };
  std::string pod_namespace;
  std::string name;
  std::vector<Container> containers;
};

/// A resource has 60,000 at most, since kubelet takes messages of 4 MiB.
inline constexpr std::size_t kMostDevices = 131072;

/// An answer to v1.PodResourcesLister/List; names and ids of more than 253 bytes are left out.
/// Errors: `corrupt` it is none, or has more than kMostDevices.
Result<std::vector<ListedPod>> parse_pods(const std::string& answer);
/// kubelet's answer, of at most 16 MiB. Errors: those of connect_to(), call() and parse_pods().
Result<std::vector<ListedPod>> list_pods(const Host& host, const std::string& socket,
                                         std::chrono::milliseconds limit = std::chrono::seconds(3));

/// The ids of healthy devices by resource (v1.PodResourcesLister/GetAllocatableResources); nothing: this kubelet is
/// older than 1.21. Errors: as for list_pods().
Result<std::optional<std::map<std::string, std::vector<std::string>>>> list_allocatable(const Host& host,
                                                                                        const std::string& socket);

}  // namespace slipway::nvidia::kubelet
