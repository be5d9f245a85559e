// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/mig.hpp - Multi-Instance GPU: the mode, the profiles, and the existing instances.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/abi/mig.h"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

struct MigMode {
  bool current = false;
  bool pending = false;  ///< differs from current while a reset is pending
};

/// A GPU instance profile in one form, for every layout of the driver.
struct GpuInstanceProfile {
  unsigned selector = 0;  ///< NVML_GPU_INSTANCE_PROFILE_…: the argument of the query
  unsigned id = 0;        ///< the id for creating and listing
  unsigned slices = 0;
  unsigned max_instances = 0;
  unsigned multiprocessors = 0;
  unsigned copy_engines = 0;
  unsigned decoders = 0;
  unsigned encoders = 0;
  unsigned jpeg = 0;
  unsigned ofa = 0;
  std::uint64_t memory_mib = 0;
  std::string name;  ///< "1g.10gb" as the driver names it; empty before R510
};

struct ComputeInstanceProfile {
  unsigned selector = 0;
  unsigned engines = 0;
  unsigned id = 0;
  unsigned slices = 0;
  unsigned max_instances = 0;
  unsigned multiprocessors = 0;
};

/// Answers `absent()` on GPUs without MIG.
Answer<MigMode> mig_mode(Nvml& nvml, nvmlDevice_t gpu);
/// Sets the mode; `value()` is the result: SUCCESS in effect, IN_USE or RESET_REQUIRED pending.
Answer<nvmlReturn_t> set_mig_mode(Nvml& nvml, nvmlDevice_t gpu, bool enabled);

/// `absent()` or INVALID_ARGUMENT: this GPU has no such profile.
Answer<GpuInstanceProfile> gpu_instance_profile(Nvml& nvml, nvmlDevice_t gpu, unsigned selector);
/// Returns all profiles of the GPU in selector order, including those of newer drivers.
Answer<std::vector<GpuInstanceProfile>> gpu_instance_profiles(Nvml& nvml, nvmlDevice_t gpu);
/// The selectors of a GPU model's profiles, as far as they were read.
struct KnownProfiles {
  std::map<unsigned, unsigned> selector_of;  ///< by the profile's id
  unsigned next = 0;                         ///< the first selector that was not read
};
/// Returns the selector of a profile by its id; empty: the GPU has no such profile. Each query takes up to 0.9 ms, so
/// it stops at the profile, and records the results in `known`.
Answer<std::optional<unsigned>> profile_selector(Nvml& nvml, nvmlDevice_t gpu, unsigned profile_id,
                                                 KnownProfiles& known);
/// Returns where instances of a profile may be placed, regardless of existing instances.
Answer<std::vector<nvmlGpuInstancePlacement_t>> placements(Nvml& nvml, nvmlDevice_t gpu, unsigned profile_id);
Answer<std::vector<nvmlGpuInstance_t>> gpu_instances(Nvml& nvml, nvmlDevice_t gpu, const GpuInstanceProfile& profile);
Answer<nvmlGpuInstance_t> gpu_instance_by_id(Nvml& nvml, nvmlDevice_t gpu, unsigned id);
Answer<nvmlGpuInstanceInfo_t> gpu_instance_info(Nvml& nvml, nvmlGpuInstance_t instance);
Answer<nvmlGpuInstance_t> create_gpu_instance(Nvml& nvml, nvmlDevice_t gpu, unsigned profile_id,
                                              nvmlGpuInstancePlacement_t placement);
Answer<int> destroy(Nvml& nvml, nvmlGpuInstance_t instance);

Answer<ComputeInstanceProfile> compute_instance_profile(Nvml& nvml, nvmlGpuInstance_t instance, unsigned selector,
                                                        unsigned engines);
Answer<std::vector<nvmlComputeInstance_t>> compute_instances(Nvml& nvml, nvmlGpuInstance_t instance,
                                                             const ComputeInstanceProfile& profile);
Answer<nvmlComputeInstance_t> compute_instance_by_id(Nvml& nvml, nvmlGpuInstance_t instance, unsigned id);
Answer<nvmlComputeInstanceInfo_t> compute_instance_info(Nvml& nvml, nvmlComputeInstance_t instance);
/// Creates it at that place; drivers before R525 choose the place.
Answer<nvmlComputeInstance_t> create_compute_instance(Nvml& nvml, nvmlGpuInstance_t instance, unsigned profile_id,
                                                      nvmlComputeInstancePlacement_t placement);
Answer<int> destroy(Nvml& nvml, nvmlComputeInstance_t instance);

/// Returns the MIG devices of a GPU without gaps; empty without MIG.
Answer<std::vector<nvmlDevice_t>> mig_devices(Nvml& nvml, nvmlDevice_t gpu);
Answer<nvmlDeviceAttributes_t> mig_attributes(Nvml& nvml, nvmlDevice_t mig_device);
Answer<unsigned> gpu_instance_id(Nvml& nvml, nvmlDevice_t mig_device);
Answer<unsigned> compute_instance_id(Nvml& nvml, nvmlDevice_t mig_device);

/// Returns "10gb": the share of the memory, in eighths of the total in whole GiB. @param total_bytes  of the GPU; 0:
/// unknown
std::string memory_part(std::uint64_t instance_mib, std::uint64_t total_bytes);

/// Returns "3g.40gb", "1c.3g.40gb", "1g.10gb+me", as NVIDIA's device plugin and feature discovery name it (go-nvlib).
/// @param total_bytes  of the whole GPU  @param selector  NVML_GPU_INSTANCE_PROFILE_… of the GPU instance
std::string mig_profile_name(const nvmlDeviceAttributes_t& attributes, std::uint64_t total_bytes, unsigned selector);

}  // namespace slipway::nvidia::nvml
