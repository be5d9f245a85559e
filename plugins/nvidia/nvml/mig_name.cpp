// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "nvidia/nvml/abi/mig.h"
#include "nvidia/nvml/mig.hpp"

namespace slipway::nvidia::nvml {
namespace {

/// Returns the attributes behind the memory in a profile's name, by its selector.
std::string_view attributes_of(unsigned selector) {
  switch (selector) {
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1:
      return "+me";
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME:
      return "+me.all";
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME:
      return "-me";
    case NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX:
    case NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX:
    case NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX:
    case NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX:
      return "+gfx";
    default:
      return {};
  }
}

}  // namespace

// Eighths of the memory, rounded up, of the total in whole GiB. Thor shares the processor's memory, so it has no total:
// 0 GB.
std::string memory_part(std::uint64_t instance_mib, std::uint64_t total_bytes) {
  if (total_bytes == 0) return "0gb";
  constexpr double kEighths = 8;
  const double share = static_cast<double>(instance_mib << 20U) / static_cast<double>(total_bytes);
  const double eighths = std::ceil(share * kEighths) / kEighths;
  const std::uint64_t total_gib = (total_bytes + (1ULL << 30U) - 1) >> 30U;
  return fmt::format("{}gb", std::llround(eighths * static_cast<double>(total_gib)));
}

std::string mig_profile_name(const nvmlDeviceAttributes_t& attributes, std::uint64_t total_bytes, unsigned selector) {
  const unsigned compute = attributes.computeInstanceSliceCount;
  const unsigned gpu = attributes.gpuInstanceSliceCount;
  return fmt::format("{}{}g.{}{}", compute == gpu ? "" : fmt::format("{}c.", compute), gpu,
                     memory_part(attributes.memorySizeMB, total_bytes), attributes_of(selector));
}

}  // namespace slipway::nvidia::nvml
