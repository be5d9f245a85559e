// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/pod_resources.hpp - asks kubelet which container holds which devices.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::deviceplugin {

struct Holder {
  std::string pod;  ///< "NAMESPACE/NAME"
  std::string container;
  std::string resource;
  std::vector<std::string> ids;  ///< sorted
  bool operator==(const Holder&) const = default;
};

struct PodResources {
  std::vector<Holder> holders;  ///< by pod, container and resource
  /// Healthy devices by resource; empty: this kubelet is older than 1.21 and does not tell.
  std::optional<std::map<std::string, long>> allocatable;
  bool operator==(const PodResources&) const = default;
};

/// Of these resources. Limit: 2 s a call.
/// Errors: `unreachable`, `timed_out`, `io` with kubelet's words.
Result<PodResources> read_pod_resources(const std::string& socket, const std::vector<std::string>& resources);

}  // namespace slipway::deviceplugin
