// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/text.hpp"

namespace slipway::nvidia::nvml {
namespace {

// More than any driver has, to find the profiles of newer drivers too.
constexpr unsigned kSelectors = 32;

/// More than the memory slices of any GPU, which has at most that many places for instances.
constexpr unsigned kMostPlacements = 128;

template <class Info>
GpuInstanceProfile profile_of(unsigned selector, const Info& info) {
  return {.selector = selector,
          .id = info.id,
          .slices = info.sliceCount,
          .max_instances = info.instanceCount,
          .multiprocessors = info.multiprocessorCount,
          .copy_engines = info.copyEngineCount,
          .decoders = info.decoderCount,
          .encoders = info.encoderCount,
          .jpeg = info.jpegCount,
          .ofa = info.ofaCount,
          .memory_mib = info.memorySizeMB,
          .name = {}};
}

std::string plain_name(const std::string& name) { return name.starts_with("MIG ") ? name.substr(4) : name; }

template <class Info>
nvmlReturn_t versioned(const Library& library, nvmlDevice_t gpu, unsigned selector, unsigned number,
                       GpuInstanceProfile& profile) {
  Info info{};
  info.version = static_cast<unsigned>(sizeof(Info)) | (number << 24U);
  using Any = nvmlGpuInstanceProfileInfo_v2_t;  // nvml.h's own type for either layout; the first word distinguishes
                                                // them
  const nvmlReturn_t code =
      invoke(library.function<nvmlDevice_t, unsigned, Any*>("nvmlDeviceGetGpuInstanceProfileInfoV"), gpu, selector,
             reinterpret_cast<Any*>(&info));
  profile = profile_of(selector, info);
  profile.name = plain_name(text_of(info.name));
  return code;
}

nvmlReturn_t unversioned(const Library& library, nvmlDevice_t gpu, unsigned selector, GpuInstanceProfile& profile) {
  nvmlGpuInstanceProfileInfo_t info{};
  const nvmlReturn_t code = invoke(
      library.function<nvmlDevice_t, unsigned, nvmlGpuInstanceProfileInfo_t*>("nvmlDeviceGetGpuInstanceProfileInfo"),
      gpu, selector, &info);
  profile = profile_of(selector, info);
  return code;
}

/// Uses the newest layout that the driver supports. @param layout  the one of an earlier answer; 0: none yet
nvmlReturn_t read_profile(const Library& library, nvmlDevice_t gpu, unsigned selector, GpuInstanceProfile& profile,
                          unsigned& layout) {
  nvmlReturn_t code = NVML_ERROR_FUNCTION_NOT_FOUND;
  for (const unsigned each : {3U, 2U, 1U}) {
    if (layout != 0 && each != layout) continue;
    code = each == 3   ? versioned<nvmlGpuInstanceProfileInfo_v3_t>(library, gpu, selector, each, profile)
           : each == 2 ? versioned<nvmlGpuInstanceProfileInfo_v2_t>(library, gpu, selector, each, profile)
                       : unversioned(library, gpu, selector, profile);
    if (code == NVML_SUCCESS) layout = each;
    if (!try_older(code)) return code;
  }
  return code;
}

bool no_such_profile(nvmlReturn_t code) {
  return code == NVML_ERROR_NOT_SUPPORTED || code == NVML_ERROR_INVALID_ARGUMENT ||
         code == NVML_ERROR_FUNCTION_NOT_FOUND;
}

}  // namespace

Answer<GpuInstanceProfile> gpu_instance_profile(Nvml& nvml, nvmlDevice_t gpu, unsigned selector) {
  return nvml.ask<GpuInstanceProfile>([gpu, selector](const Library& library, GpuInstanceProfile& profile) {
    unsigned layout = 0;
    return read_profile(library, gpu, selector, profile, layout);
  });
}

Answer<std::vector<GpuInstanceProfile>> gpu_instance_profiles(Nvml& nvml, nvmlDevice_t gpu) {
  return nvml.ask<std::vector<GpuInstanceProfile>>([gpu](const Library& library, std::vector<GpuInstanceProfile>& all) {
    unsigned layout = 0;
    for (unsigned selector = 0; selector < kSelectors; ++selector) {
      GpuInstanceProfile profile;
      const nvmlReturn_t code = read_profile(library, gpu, selector, profile, layout);
      if (code == NVML_SUCCESS) all.push_back(profile);
      if (code != NVML_SUCCESS && !no_such_profile(code)) return code;
      // NVML returns NOT_SUPPORTED for a profile that a GPU lacks, and INVALID_ARGUMENT behind the last one that the
      // driver knows.
      if (code == NVML_ERROR_INVALID_ARGUMENT && selector >= NVML_GPU_INSTANCE_PROFILE_COUNT) break;
    }
    return static_cast<nvmlReturn_t>(NVML_SUCCESS);
  });
}

Answer<std::optional<unsigned>> profile_selector(Nvml& nvml, nvmlDevice_t gpu, unsigned profile_id,
                                                 KnownProfiles& known) {
  for (;;) {
    if (const auto found = known.selector_of.find(profile_id); found != known.selector_of.end())
      return {NVML_SUCCESS, found->second};
    if (known.next >= kSelectors) return {NVML_SUCCESS, std::nullopt};
    const unsigned selector = known.next;
    const auto profile = gpu_instance_profile(nvml, gpu, selector);
    if (!profile && !no_such_profile(profile.code())) return profile.code();
    ++known.next;
    if (profile) known.selector_of.emplace(profile->id, selector);
    if (profile.code() == NVML_ERROR_INVALID_ARGUMENT && selector >= NVML_GPU_INSTANCE_PROFILE_COUNT)
      known.next = kSelectors;  // behind the driver's last profile
  }
}

Answer<std::vector<nvmlGpuInstancePlacement_t>> placements(Nvml& nvml, nvmlDevice_t gpu, unsigned profile_id) {
  using Places = std::vector<nvmlGpuInstancePlacement_t>;
  return nvml.ask<Places>([gpu, profile_id](const Library& library, Places& places) {
    const auto function = library.function<nvmlDevice_t, unsigned, nvmlGpuInstancePlacement_t*, unsigned*>(
        {"nvmlDeviceGetGpuInstancePossiblePlacements_v2", "nvmlDeviceGetGpuInstancePossiblePlacements"});
    places.resize(kMostPlacements);  // reading the count first would be a second call
    unsigned count = kMostPlacements;
    nvmlReturn_t code = invoke(function, gpu, profile_id, places.data(), &count);
    if (code == NVML_ERROR_INVALID_ARGUMENT || code == NVML_ERROR_INSUFFICIENT_SIZE) {  // it requires the exact count
      code = function(gpu, profile_id, nullptr, &count);
      places.resize(count);
      if (code == NVML_SUCCESS && count != 0) code = function(gpu, profile_id, places.data(), &count);
    }
    places.resize(code == NVML_SUCCESS ? std::min<std::size_t>(count, places.size()) : 0);
    return code;
  });
}

Answer<ComputeInstanceProfile> compute_instance_profile(Nvml& nvml, nvmlGpuInstance_t instance, unsigned selector,
                                                        unsigned engines) {
  return nvml.ask<ComputeInstanceProfile>(
      [instance, selector, engines](const Library& library, ComputeInstanceProfile& profile) {
        nvmlComputeInstanceProfileInfo_t info{};
        const nvmlReturn_t code =
            invoke(library.function<nvmlGpuInstance_t, unsigned, unsigned, nvmlComputeInstanceProfileInfo_t*>(
                       "nvmlGpuInstanceGetComputeInstanceProfileInfo"),
                   instance, selector, engines, &info);
        profile = {selector, engines, info.id, info.sliceCount, info.instanceCount, info.multiprocessorCount};
        return code;
      });
}

}  // namespace slipway::nvidia::nvml
