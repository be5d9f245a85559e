// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "gfd/labels/snapshot.hpp"
#include "nvidia/nvml/device.hpp"

namespace slipway::gfd {
namespace {

namespace nvml = nvidia::nvml;

/// Reads the devices of one GPU.
class Reader {
 public:
  Reader(nvml::Nvml& library, nvmlDevice_t gpu, std::string gpu_name, nvml::KnownProfiles& profiles)
      : library_(library), gpu_(gpu), gpu_name_(std::move(gpu_name)), profiles_(profiles) {}

  Result<std::vector<MigDevice>> read() {
    total_bytes_ = nvml::memory_total(library_, gpu_).value_or(0);
    const auto handles = nvml::mig_devices(library_, gpu_);
    if (!handles) return handles.error(gpu_name_ + ": MIG devices");
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
    if (!attributes) return attributes.error(gpu_name_ + ": a MIG device");
    SLIPWAY_TRY(selector, selector_of(handle));
    return MigDevice{.uuid = nvml::device_uuid(library_, handle).value_or(""),
                     .profile = nvml::mig_profile_name(*attributes, total_bytes_, selector),
                     .attributes = *attributes};
  }

  /// Returns the profile that a device's GPU instance was created with.
  Result<unsigned> selector_of(nvmlDevice_t handle) {
    const auto id = nvml::gpu_instance_id(library_, handle);
    if (!id) return id.error(gpu_name_ + ": a MIG device");
    const auto instance = nvml::gpu_instance_by_id(library_, gpu_, *id);
    if (!instance) return instance.error(fmt::format("{}: GPU instance {}", gpu_name_, *id));
    const auto info = nvml::gpu_instance_info(library_, *instance);
    if (!info) return info.error(fmt::format("{}: GPU instance {}", gpu_name_, *id));
    const auto selector = nvml::profile_selector(library_, gpu_, info->profileId, profiles_);
    if (!selector) return selector.error(gpu_name_ + ": MIG profiles");
    if (*selector) return **selector;
    return Error{.code = ErrorCode::io,
                 .what = fmt::format("nvml: {}: GPU instance {} is of profile {}, which the driver does not list",
                                     gpu_name_, *id, info->profileId)};
  }

  nvml::Nvml& library_;
  nvmlDevice_t gpu_;
  std::string gpu_name_;
  nvml::KnownProfiles& profiles_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace

Result<std::vector<MigDevice>> read_mig_devices(nvml::Nvml& library, nvmlDevice_t gpu, const std::string& gpu_name,
                                                nvml::KnownProfiles& profiles) {
  return Reader(library, gpu, gpu_name, profiles).read();
}

}  // namespace slipway::gfd
