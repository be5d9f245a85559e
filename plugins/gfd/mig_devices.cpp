// SPDX-License-Identifier: Apache-2.0
#include "gfd/mig_devices.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::gfd {
namespace {

namespace nvml = nvidia::nvml;

/// What follows the memory in a profile's name, by the selector that it answers to.
std::string attributes_of(unsigned selector) {
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

MigDevice device_of(const nvmlDeviceAttributes_t& attributes) {
  return {.memory_mib = attributes.memorySizeMB,
          .multiprocessors = attributes.multiprocessorCount,
          .gpu_slices = attributes.gpuInstanceSliceCount,
          .compute_slices = attributes.computeInstanceSliceCount,
          .copy_engines = attributes.sharedCopyEngineCount,
          .decoders = attributes.sharedDecoderCount,
          .encoders = attributes.sharedEncoderCount,
          .jpeg = attributes.sharedJpegCount,
          .ofa = attributes.sharedOfaCount};
}

/// Reads the devices of one GPU, asking for its profiles once.
class Reader {
 public:
  Reader(nvml::Nvml& library, nvmlDevice_t gpu, std::string called)
      : library_(library), gpu_(gpu), called_(std::move(called)) {}

  Result<std::vector<MigDevice>> read() {
    const auto profiles = nvml::gpu_instance_profiles(library_, gpu_);
    if (!profiles) return profiles.error(called_ + ": MIG profiles");
    profiles_ = *profiles;
    total_bytes_ = nvml::memory_total(library_, gpu_).value_or(0);
    const auto handles = nvml::mig_devices(library_, gpu_);
    if (!handles) return handles.error(called_ + ": MIG devices");
    std::vector<MigDevice> devices;
    for (nvmlDevice_t handle : *handles) {
      SLIPWAY_TRY(device, read_one(handle));
      devices.push_back(std::move(device));
    }
    return devices;
  }

 private:
  Result<MigDevice> read_one(nvmlDevice_t handle) {
    const auto attributes = nvml::mig_attributes(library_, handle);
    if (!attributes) return attributes.error(called_ + ": a MIG device");
    MigDevice device = device_of(*attributes);
    device.uuid = nvml::device_uuid(library_, handle).value_or("");
    SLIPWAY_TRY(selector, selector_of(handle));
    const std::string compute =
        device.compute_slices == device.gpu_slices ? "" : fmt::format("{}c.", device.compute_slices);
    device.profile = fmt::format("{}{}g.{}{}", compute, device.gpu_slices, memory_part(device.memory_mib, total_bytes_),
                                 attributes_of(selector));
    return device;
  }

  /// Which profile the GPU instance of a device was made by.
  Result<unsigned> selector_of(nvmlDevice_t handle) {
    const auto id = nvml::gpu_instance_id(library_, handle);
    if (!id) return id.error(called_ + ": a MIG device");
    const auto instance = nvml::gpu_instance_by_id(library_, gpu_, *id);
    if (!instance) return instance.error(fmt::format("{}: GPU instance {}", called_, *id));
    const auto info = nvml::gpu_instance_info(library_, *instance);
    if (!info) return info.error(fmt::format("{}: GPU instance {}", called_, *id));
    const auto profile = std::ranges::find(profiles_, info->profileId, &nvml::GpuInstanceProfile::id);
    if (profile != profiles_.end()) return profile->selector;
    return Error{.code = ErrorCode::io,
                 .what = fmt::format("nvml: {}: GPU instance {} is of profile {}, which the driver does not list",
                                     called_, *id, info->profileId)};
  }

  nvml::Nvml& library_;
  nvmlDevice_t gpu_;
  std::string called_;
  std::vector<nvml::GpuInstanceProfile> profiles_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace

Result<std::vector<MigDevice>> read_mig_devices(nvml::Nvml& library, nvmlDevice_t gpu, const std::string& called) {
  return Reader(library, gpu, called).read();
}

// Eighths of the memory, rounded up, of the total in whole GiB. Thor shares the processor's memory: no total, 0 GB.
std::string memory_part(std::uint64_t instance_mib, std::uint64_t total_bytes) {
  if (total_bytes == 0) return "0gb";
  constexpr double kEighths = 8;
  const double share = static_cast<double>(instance_mib << 20U) / static_cast<double>(total_bytes);
  const double eighths = std::ceil(share * kEighths) / kEighths;
  const std::uint64_t total_gib = (total_bytes + (1ULL << 30U) - 1) >> 30U;
  return fmt::format("{}gb", std::llround(eighths * static_cast<double>(total_gib)));
}

}  // namespace slipway::gfd
