// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/pods.hpp - pods that kubelet has given a GPU or a MIG device, whether a process of theirs has
// opened it or not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nvidia/drain/holders.hpp"

namespace slipway::nvidia::drain {

/// A name that kubelet may have for something affected.
struct DeviceName {
  std::string name;   ///< as a key of kubelet::GpuPods
  std::string holds;  ///< the text of the part, or of the GPU
};

/// Of the GPU, and of the parts that go. NVML is asked for MIG devices only where kubelet has given one to somebody.
/// Nothing: NVML does not say which MIG devices there are.
std::optional<std::vector<DeviceName>> names_for_kubelet(nvml::Nvml& nvml, const Affected& affected,
                                                         std::optional<unsigned> minor, const Given& given);

/// Adds the pod, unless a process of that container is among them that holds the same.
void add_pod(std::vector<DeviceHolder>& holders, const nvidia::kubelet::GpuPod& pod, const std::string& holds);

/// Where kubelet does not say whom it has given what.
DeviceHolder unknown_pod(const Affected& affected, const Given& given);

}  // namespace slipway::nvidia::drain
