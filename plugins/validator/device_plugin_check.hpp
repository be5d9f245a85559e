// SPDX-License-Identifier: Apache-2.0
// plugins/validator/device_plugin_check.hpp - checks that kubelet can allocate this node's GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <slipway/host.hpp>

#include "validator/check.hpp"

namespace slipway::validator {

inline constexpr const char* kPluginCheck = "validator.plugin";

/// The place of kubelet, and the resource names on this node.
struct Kubelet {
  std::string root = "/var/lib/kubelet";
  std::set<std::string> named;  ///< resources that the device plugin's config renames

  std::string device_plugins() const { return root + "/device-plugins"; }
};

/// Returns kubelet's number of devices by resource ("nvidia.com/gpu", "nvidia.com/mig-1g.10gb"), from its own
/// checkpoint, kubelet_internal_checkpoint. Empty if there is none, or it cannot be read.
std::optional<std::map<std::string, std::int64_t>> registered_devices(const Host& host, const Kubelet& kubelet = {});

/// Not exercised without kubelet, and if no NVIDIA device plugin has ever run.
Finding check_device_plugin(const Host& host, const Kubelet& kubelet = {});

/// Returns the sum over "nvidia.com/gpu*", "nvidia.com/mig-*" and the renamed ones; -1 when it is unknown.
std::int64_t device_total(const Host& host, const Kubelet& kubelet = {});

}  // namespace slipway::validator
