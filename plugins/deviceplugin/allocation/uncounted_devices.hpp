// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/allocation/uncounted_devices.hpp - devices that a container has and that kubelet counts as free:
// devices of pods from before a change of the GPUs' sharing, and devices that another device plugin offers too.
//
// kubelet counts by resource and id. A pod with "GPU-1::2" of nvidia.com/gpu keeps the GPU when the config no longer
// shares it, but kubelet takes the separate id "GPU-1" for free.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/devices/resources.hpp"
#include "nvidia/kubelet/allocations.hpp"

namespace slipway::deviceplugin {

using nvidia::kubelet::Allocation;

/// Returns for each device of the resource the number of containers that use it without being counted by kubelet.
std::vector<unsigned> uncounted_uses(const Resource& resource, const std::vector<Gpu>& gpus,
                                     const std::vector<Allocation>& allocations);

/// A device that is offered in one way while pods use it in another.
struct SharingConflict {
  std::string gpu;       ///< UUID
  std::string device;    ///< UUID of the GPU or MIG device
  std::string resource;  ///< the resource that offers it
  std::vector<std::string> pods;
  std::string text;  ///< "GPU 0 (0000:10:00.0) is offered for exclusive use as nvidia.com/gpu, but pod team-a/s1 …"
  std::string remedy;
  bool operator==(const SharingConflict&) const = default;
};

/// Returns the conflicts in the order of resources and devices.
std::vector<SharingConflict> sharing_conflicts(const Resources& resources, const std::vector<Gpu>& gpus,
                                               const std::vector<Allocation>& allocations);

/// Returns the allocations of devices on these GPUs, under any resource name.
std::vector<Allocation> allocations_on(const std::vector<Gpu>& gpus, const std::vector<Allocation>& allocations);

}  // namespace slipway::deviceplugin
