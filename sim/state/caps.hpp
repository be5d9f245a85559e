// SPDX-License-Identifier: Apache-2.0
// sim/state/caps.hpp - the minors of /dev/nvidia-caps: a fixed table of the open kernel modules.
#pragma once

#include <cstdint>

namespace slipway::sim {

inline constexpr std::uint32_t kMigConfigMinor = 1;
inline constexpr std::uint32_t kMigMonitorMinor = 2;

/// Of a GPU instance, by the GPU's minor (0-31) and the instance's id (0-14).
constexpr std::uint32_t capability_minor(std::uint32_t gpu_minor, std::uint32_t instance) {
  return 3 + 135 * gpu_minor + 9 * instance;
}
/// Of a compute instance (0-7) of it.
constexpr std::uint32_t capability_minor(std::uint32_t gpu_minor, std::uint32_t instance, std::uint32_t compute) {
  return capability_minor(gpu_minor, instance) + 1 + compute;
}

}  // namespace slipway::sim
