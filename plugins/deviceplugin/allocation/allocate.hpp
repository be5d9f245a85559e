// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/allocate.hpp - a container's answer for the device ids that kubelet chose.
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

/// Facts about the machine besides the GPUs; read together with the inventory.
struct MachineDevices {
  std::vector<std::string> control_nodes;  ///< /dev/nvidiactl and similar nodes, if they exist
  std::vector<unsigned> imex_channels;     ///< those that exist
  std::string cdi_vendor = "nvidia.com";   ///< vendor of the CDI specs that name the devices: VENDOR/gpu=UUID
  bool operator==(const MachineDevices&) const = default;
};

/// Answers one container's request.
/// @param key  makes the annotation's name unique among the plugins of a node: some letters and digits
/// Errors: `invalid` an id that the resource does not have, or more than the sharing allows; the text appears in the
/// pod's events
Result<Grant> allocate(const Resource& resource, const std::vector<std::string>& ids, const Settings& settings,
                       const MachineDevices& extras, const std::string& key);

}  // namespace slipway::deviceplugin
