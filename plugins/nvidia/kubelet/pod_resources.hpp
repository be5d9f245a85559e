// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/pod_resources.hpp - kubelet's pod resources API: the devices of each container, and how many
// of a resource kubelet can allocate.
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
/// The part of that path below kubelet's folder.
inline constexpr const char* kPodResourcesBelowRoot = "/pod-resources/kubelet.sock";

/// An active pod. Its containers include only those init containers that restart (sidecars).
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

/// A resource has at most 60,000, because kubelet accepts messages of 4 MiB.
inline constexpr std::size_t kMostDevices = 131072;

/// Parses an answer to v1.PodResourcesLister/List; names and ids of more than 253 bytes are left out. Errors: `corrupt`
/// not such an answer, or more than kMostDevices.
Result<std::vector<ListedPod>> parse_pods(const std::string& answer);
/// Asks kubelet; the answer has at most 16 MiB, within three seconds. Errors: those of connect_to(), call() and
/// parse_pods().
Result<std::vector<ListedPod>> list_pods(const Host& host, const std::string& socket,
                                         std::chrono::milliseconds limit = std::chrono::seconds(3));

/// Returns the ids of healthy devices by resource (v1.PodResourcesLister/GetAllocatableResources); empty: kubelet is
/// older than 1.21. Errors: those of list_pods().
Result<std::optional<std::map<std::string, std::vector<std::string>>>> list_allocatable(const Host& host,
                                                                                        const std::string& socket);

}  // namespace slipway::nvidia::kubelet
