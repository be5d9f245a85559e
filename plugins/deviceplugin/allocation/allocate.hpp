// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/allocate.hpp - what a container gets for the device ids that kubelet chose.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deviceplugin/devices/resources.hpp"

namespace slipway::deviceplugin {

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = false;
  bool operator==(const Mount&) const = default;
};

struct DeviceSpec {
  std::string container_path;
  std::string host_path;
  std::string permissions = "rw";
  bool operator==(const DeviceSpec&) const = default;
};

/// The members of a ContainerAllocateResponse.
struct Grant {
  std::map<std::string, std::string> env;
  std::vector<Mount> mounts;
  std::vector<DeviceSpec> devices;
  std::map<std::string, std::string> annotations;
  std::vector<std::string> cdi_devices;
  bool operator==(const Grant&) const = default;
};

/// What of the machine matters besides the GPUs; looked up when the inventory is read.
struct Extras {
  std::vector<std::string> control_nodes;  ///< /dev/nvidiactl and so on, those that there are
  std::vector<unsigned> imex_channels;     ///< those that there are
  std::string cdi_vendor = "nvidia.com";   ///< of the specs that name the devices: VENDOR/gpu=UUID
  bool operator==(const Extras&) const = default;
};

/// One container's request.
/// @param key  makes the annotation's name unique among the plugins of a node: some letters and digits
/// Errors: `invalid` an id that is not of the resource, or more than the sharing allows; the words reach the pod's
/// events
Result<Grant> allocate(const Resource& resource, const std::vector<std::string>& ids, const Settings& settings,
                       const Extras& extras, const std::string& key);

}  // namespace slipway::deviceplugin
