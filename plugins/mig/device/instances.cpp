// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mig/device/read.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::mig {
namespace {

namespace nvml = nvidia::nvml;

/// A GPU instance has at most as many compute instances.
constexpr unsigned kMostComputeInstances = 8;

bool is_for_graphics(const Profile& profile) { return std::ranges::count(profile.attributes, "gfx") != 0; }

/// The memory slices of the instances found so far; those with graphics are counted apart, because the product decides
/// whether they share slices with others.
class TakenSlices {
 public:
  void add(const InstanceProfile& profile, unsigned start) {
    all_.push_back({is_for_graphics(profile.profile), start, start + profile.size});
  }
  /// True when an instance of the profile could be placed beside them.
  bool leaves_room_for(const InstanceProfile& profile) const {
    return std::ranges::any_of(profile.starts, [&](unsigned start) {
      return std::ranges::none_of(all_, [&](const Range& each) {
        return each.graphics == is_for_graphics(profile.profile) && start < each.end &&
               each.begin < start + profile.size;
      });
    });
  }

 private:
  struct Range {
    bool graphics = false;
    unsigned begin = 0;
    unsigned end = 0;
  };
  std::vector<Range> all_;
};

Result<ComputeInstance> shape_of(nvml::Nvml& nvml, nvmlComputeInstance_t part, const InstanceProfile& profile,
                                 const std::string& gpu) {
  if (profile.profile.gpu_slices == 1) return ComputeInstance{0, 1};  // the only possible compute instance
  const auto shape = nvml::compute_instance_info(nvml, part);
  if (!shape) return nvml::to_error(shape.code(), "read a compute instance", gpu);
  return ComputeInstance{shape->placement.start, shape->placement.size};
}

Result<InstanceHandle> read_instance(nvml::Nvml& nvml, nvmlGpuInstance_t handle, const InstanceProfile& profile,
                                     const std::string& gpu) {
  const auto info = nvml::gpu_instance_info(nvml, handle);
  if (!info) return nvml::to_error(info.code(), "read a GPU instance", gpu);
  InstanceHandle read{.instance = {.start = info->placement.start, .profile_id = profile.id, .compute = {}},
                      .handle = handle,
                      .id = info->id,
                      .compute = {}};
  unsigned slices = 0;
  for (unsigned id = 0; id < kMostComputeInstances && slices < profile.profile.gpu_slices; ++id) {
    const auto part = nvml::compute_instance_by_id(nvml, handle, id);
    if (part.code() == NVML_ERROR_NOT_FOUND) continue;
    if (!part) return nvml::to_error(part.code(), "find a compute instance", gpu);
    SLIPWAY_TRY(compute, shape_of(nvml, *part, profile, gpu));
    read.compute.push_back({compute, *part, id});
    read.instance.compute.push_back(compute);
    slices += compute.slices;
  }
  std::ranges::sort(read.instance.compute);
  return read;
}

}  // namespace

Result<std::vector<InstanceHandle>> read_instances(nvml::Nvml& nvml, nvmlDevice_t device,
                                                   const std::vector<InstanceProfile>& profiles,
                                                   const std::string& gpu) {
  std::vector<InstanceHandle> all;
  TakenSlices taken;
  for (const InstanceProfile& profile : profiles) {
    if (!taken.leaves_room_for(profile)) continue;
    const auto handles = nvml::gpu_instances(
        nvml, device, nvml::GpuInstanceProfile{.id = profile.id, .max_instances = profile.max, .name = {}});
    if (handles.absent()) continue;
    if (!handles) return nvml::to_error(handles.code(), "list the instances of " + profile.profile.text(), gpu);
    for (nvmlGpuInstance_t handle : *handles) {
      SLIPWAY_TRY(instance, read_instance(nvml, handle, profile, gpu));
      taken.add(profile, instance.instance.start);
      all.push_back(std::move(instance));
    }
  }
  std::ranges::sort(all, {}, &InstanceHandle::instance);
  return all;
}

}  // namespace slipway::mig
