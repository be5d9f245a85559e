// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/mig_name.hpp - the name of a MIG device's profile, which node labels and resources have to share.
#pragma once

#include <cstdint>
#include <string>

#include "nvidia/nvml/abi/device.h"

namespace slipway::nvidia::nvml {

/// "10gb": the share of the memory, in eighths of the total in whole GiB. @param total_bytes  of the GPU; 0: not known
std::string memory_part(std::uint64_t instance_mib, std::uint64_t total_bytes);

/// "3g.40gb", "1c.3g.40gb", "1g.10gb+me": as NVIDIA's device plugin and feature discovery name it (go-nvlib).
/// @param total_bytes  of the whole GPU  @param selector  NVML_GPU_INSTANCE_PROFILE_… of the GPU instance
std::string mig_profile_name(const nvmlDeviceAttributes_t& attributes, std::uint64_t total_bytes, unsigned selector);

}  // namespace slipway::nvidia::nvml
