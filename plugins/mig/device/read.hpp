// SPDX-License-Identifier: Apache-2.0
// plugins/mig/device/read.hpp - the GPUs of this machine as NVML shows them.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "mig/layout/arrange.hpp"
#include "mig/layout/gpu.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// Enabling MIG resets a GPU of the Ampere generation, and the driver answers when that is done.
inline constexpr std::chrono::seconds kChangeLimit{60};

/// @param call_limit  of each call; the default is for questions
/// Errors: those of choose_library() and Nvml::open().
Result<std::unique_ptr<nvidia::nvml::Nvml>> open_nvml(const Host& host, const std::string& driver_root,
                                                      std::chrono::milliseconds call_limit = std::chrono::seconds(10));

/// All of them, in NVML's order. Errors: a GPU that does not answer.
Result<std::vector<Gpu>> read_gpus(nvidia::nvml::Nvml& nvml);
Result<Gpu> read_gpu(nvidia::nvml::Nvml& nvml, nvmlDevice_t device);
/// Its mode and its instances once more; the profiles too where they were not told before.
Status refresh(nvidia::nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu);

/// A handle of a GPU instance or of a compute instance of one.
struct InstanceHandle {
  GpuInstance instance;
  nvmlGpuInstance_t handle = nullptr;
  unsigned id = 0;
  struct Part {
    ComputeInstance compute;
    nvmlComputeInstance_t handle = nullptr;
    unsigned id = 0;
  };
  std::vector<Part> compute;
};

/// The instances with their handles, which are valid until one is destroyed. None while MIG is disabled.
Result<std::vector<InstanceHandle>> read_instances(nvidia::nvml::Nvml& nvml, nvmlDevice_t device,
                                                   const std::vector<InstanceProfile>& profiles,
                                                   const std::string& gpu);

}  // namespace slipway::mig
