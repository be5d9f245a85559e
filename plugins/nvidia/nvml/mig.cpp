// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/mig.hpp"

#include <algorithm>

#include "nvidia/nvml/text.hpp"

namespace slipway::nvidia::nvml {
namespace {

/// Calls a function (parent, profile id, handles, count) with an array for all instances of the profile.
template <class Child, class Parent>
Answer<std::vector<Child>> instances(Nvml& nvml, const char* name, Parent parent, unsigned profile_id, unsigned most) {
  return nvml.ask<std::vector<Child>>(
      [name, parent, profile_id, most](const Library& library, std::vector<Child>& all) {
        all.resize(std::max(most, 16U));
        unsigned count = static_cast<unsigned>(all.size());
        const nvmlReturn_t code =
            invoke(library.function<Parent, unsigned, Child*, unsigned*>(name), parent, profile_id, all.data(), &count);
        all.resize(code == NVML_SUCCESS ? std::min<std::size_t>(count, all.size()) : 0);
        return code;
      });
}

/// Calls a function (parent, number, child*).
template <class Child, class Parent>
Answer<Child> child(Nvml& nvml, const char* name, Parent parent, unsigned number) {
  return nvml.ask<Child>([name, parent, number](const Library& library, Child& value) {
    return invoke(library.function<Parent, unsigned, Child*>(name), parent, number, &value);
  });
}

template <class Handle>
Answer<int> destroy_with(Nvml& nvml, const char* name, Handle handle) {
  return nvml.ask<int>(
      [name, handle](const Library& library, int&) { return invoke(library.function<Handle>(name), handle); });
}

}  // namespace

Answer<MigMode> mig_mode(Nvml& nvml, nvmlDevice_t gpu) {
  return nvml.ask<MigMode>([gpu](const Library& library, MigMode& mode) {
    unsigned current = 0;
    unsigned pending = 0;
    const nvmlReturn_t code =
        invoke(library.function<nvmlDevice_t, unsigned*, unsigned*>("nvmlDeviceGetMigMode"), gpu, &current, &pending);
    mode = {current != 0, pending != 0};
    return code;
  });
}

Answer<nvmlReturn_t> set_mig_mode(Nvml& nvml, nvmlDevice_t gpu, bool enabled) {
  return nvml.ask<nvmlReturn_t>([gpu, enabled](const Library& library, nvmlReturn_t& activation) {
    return invoke(library.function<nvmlDevice_t, unsigned, nvmlReturn_t*>("nvmlDeviceSetMigMode"), gpu,
                  enabled ? 1U : 0U, &activation);
  });
}

Answer<std::vector<nvmlGpuInstance_t>> gpu_instances(Nvml& nvml, nvmlDevice_t gpu, const GpuInstanceProfile& profile) {
  return instances<nvmlGpuInstance_t>(nvml, "nvmlDeviceGetGpuInstances", gpu, profile.id, profile.max_instances);
}

Answer<nvmlGpuInstance_t> gpu_instance_by_id(Nvml& nvml, nvmlDevice_t gpu, unsigned id) {
  return child<nvmlGpuInstance_t>(nvml, "nvmlDeviceGetGpuInstanceById", gpu, id);
}

Answer<nvmlGpuInstanceInfo_t> gpu_instance_info(Nvml& nvml, nvmlGpuInstance_t instance) {
  return ask_value<nvmlGpuInstanceInfo_t>(nvml, {"nvmlGpuInstanceGetInfo"}, instance);
}

Answer<nvmlGpuInstance_t> create_gpu_instance(Nvml& nvml, nvmlDevice_t gpu, unsigned profile_id,
                                              nvmlGpuInstancePlacement_t placement) {
  return nvml.ask<nvmlGpuInstance_t>([=](const Library& library, nvmlGpuInstance_t& instance) {
    const auto function =
        library.function<nvmlDevice_t, unsigned, const nvmlGpuInstancePlacement_t*, nvmlGpuInstance_t*>(
            "nvmlDeviceCreateGpuInstanceWithPlacement");
    return invoke(function, gpu, profile_id, &placement, &instance);
  });
}

Answer<int> destroy(Nvml& nvml, nvmlGpuInstance_t instance) {
  return destroy_with(nvml, "nvmlGpuInstanceDestroy", instance);
}

Answer<std::vector<nvmlComputeInstance_t>> compute_instances(Nvml& nvml, nvmlGpuInstance_t instance,
                                                             const ComputeInstanceProfile& profile) {
  return instances<nvmlComputeInstance_t>(nvml, "nvmlGpuInstanceGetComputeInstances", instance, profile.id,
                                          profile.max_instances);
}

Answer<nvmlComputeInstance_t> compute_instance_by_id(Nvml& nvml, nvmlGpuInstance_t instance, unsigned id) {
  return child<nvmlComputeInstance_t>(nvml, "nvmlGpuInstanceGetComputeInstanceById", instance, id);
}

// The older function fills a shorter layout, which fits into a zeroed newer one.
Answer<nvmlComputeInstanceInfo_t> compute_instance_info(Nvml& nvml, nvmlComputeInstance_t instance) {
  return ask_value<nvmlComputeInstanceInfo_t>(nvml, {"nvmlComputeInstanceGetInfo_v2", "nvmlComputeInstanceGetInfo"},
                                              instance);
}

Answer<nvmlComputeInstance_t> create_compute_instance(Nvml& nvml, nvmlGpuInstance_t instance, unsigned profile_id,
                                                      nvmlComputeInstancePlacement_t placement) {
  return nvml.ask<nvmlComputeInstance_t>([=](const Library& library, nvmlComputeInstance_t& made) {
    const auto placed =
        library.function<nvmlGpuInstance_t, unsigned, const nvmlComputeInstancePlacement_t*, nvmlComputeInstance_t*>(
            "nvmlGpuInstanceCreateComputeInstanceWithPlacement");
    if (placed != nullptr) return placed(instance, profile_id, &placement, &made);
    return invoke(
        library.function<nvmlGpuInstance_t, unsigned, nvmlComputeInstance_t*>("nvmlGpuInstanceCreateComputeInstance"),
        instance, profile_id, &made);
  });
}

Answer<int> destroy(Nvml& nvml, nvmlComputeInstance_t instance) {
  return destroy_with(nvml, "nvmlComputeInstanceDestroy", instance);
}

Answer<std::vector<nvmlDevice_t>> mig_devices(Nvml& nvml, nvmlDevice_t gpu) {
  return nvml.ask<std::vector<nvmlDevice_t>>([gpu](const Library& library, std::vector<nvmlDevice_t>& all) {
    unsigned most = 0;
    const nvmlReturn_t code =
        invoke(library.function<nvmlDevice_t, unsigned*>("nvmlDeviceGetMaxMigDeviceCount"), gpu, &most);
    if (code == NVML_ERROR_NOT_SUPPORTED || code == NVML_ERROR_FUNCTION_NOT_FOUND)
      return static_cast<nvmlReturn_t>(NVML_SUCCESS);
    if (code != NVML_SUCCESS) return code;
    const auto by_index =
        library.function<nvmlDevice_t, unsigned, nvmlDevice_t*>("nvmlDeviceGetMigDeviceHandleByIndex");
    for (unsigned index = 0; index < most; ++index) {
      nvmlDevice_t device = nullptr;
      const nvmlReturn_t found = invoke(by_index, gpu, index, &device);
      if (found == NVML_SUCCESS) all.push_back(device);
      if (found != NVML_SUCCESS && found != NVML_ERROR_NOT_FOUND && found != NVML_ERROR_INVALID_ARGUMENT) return found;
    }
    return static_cast<nvmlReturn_t>(NVML_SUCCESS);
  });
}

// The function without a suffix fills a shorter layout, without the slice counts.
Answer<nvmlDeviceAttributes_t> mig_attributes(Nvml& nvml, nvmlDevice_t mig_device) {
  return ask_value<nvmlDeviceAttributes_t>(nvml, {"nvmlDeviceGetAttributes_v2"}, mig_device);
}

Answer<unsigned> gpu_instance_id(Nvml& nvml, nvmlDevice_t mig_device) {
  return ask_value<unsigned>(nvml, {"nvmlDeviceGetGpuInstanceId"}, mig_device);
}

Answer<unsigned> compute_instance_id(Nvml& nvml, nvmlDevice_t mig_device) {
  return ask_value<unsigned>(nvml, {"nvmlDeviceGetComputeInstanceId"}, mig_device);
}

}  // namespace slipway::nvidia::nvml
