// SPDX-License-Identifier: Apache-2.0
// plugins/validator/device_plugin_check.hpp - does kubelet have this node's GPUs to give away?
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

/// Where a kubelet is, and what it is offered there.
struct Kubelet {
  std::string root = "/var/lib/kubelet";
  std::set<std::string> named;  ///< resources that the device plugin's config gives names of their own

  std::string device_plugins() const { return root + "/device-plugins"; }
};

/// Resource ("nvidia.com/gpu", "nvidia.com/mig-1g.10gb") to the number of devices that kubelet has of it: from its own
/// checkpoint, kubelet_internal_checkpoint. Nothing where there is none, or it cannot be read.
std::optional<std::map<std::string, std::int64_t>> registered_devices(const Host& host, const Kubelet& kubelet = {});

/// Not exercised without a kubelet, and where no device plugin of NVIDIA's has ever been.
Finding check_device_plugin(const Host& host, const Kubelet& kubelet = {});

/// The sum over "nvidia.com/gpu*", "nvidia.com/mig-*" and those that are named; -1 when it is not known.
std::int64_t device_total(const Host& host, const Kubelet& kubelet = {});

}  // namespace slipway::validator
