// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/pods.hpp - pods that kubelet has given a GPU or a MIG device, whether a process of theirs has
// opened it or not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nvidia/drain/holders.hpp"

namespace slipway::nvidia::drain {

/// A name under which kubelet may know an affected part.
struct DeviceName {
  std::string name;   ///< as a key of kubelet::GpuPods
  std::string holds;  ///< the text of the part, or of the GPU
};

/// Returns names for the GPU and the removed parts. Asks NVML for MIG devices only if kubelet has allocated any. Empty:
/// NVML does not list the MIG devices.
std::optional<std::vector<DeviceName>> names_for_kubelet(nvml::Nvml& nvml, const Affected& affected,
                                                         std::optional<unsigned> minor, const PodHolders& given);

/// Adds the pod, unless a process of that container with the same part is in the list.
void add_pod(std::vector<DeviceHolder>& holders, const nvidia::kubelet::GpuPod& pod, const std::string& holds);

/// Returns the holder that stands for unknown pods, if kubelet does not answer.
DeviceHolder unknown_pod(const Affected& affected, const PodHolders& given);

}  // namespace slipway::nvidia::drain
