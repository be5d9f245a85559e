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
#include "mig/layout/target.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

/// Enabling MIG resets a GPU of the Ampere generation, and the driver answers when that is done.
inline constexpr std::chrono::seconds kChangeLimit{60};

/// @param call_limit  of each call; the default is for questions
/// Errors: those of choose_library() and Nvml::open().
Result<std::unique_ptr<nvidia::nvml::Nvml>> open_nvml(const Host& host, const std::string& driver_root,
                                                      std::chrono::milliseconds call_limit = std::chrono::seconds(10));

/// The same for a tool that only looks, and ends then (NvmlOptions::until_exit).
Result<std::unique_ptr<nvidia::nvml::Nvml>> open_nvml_to_look(const Host& host);

/// A GPU with its handle, which is valid in this session of NVML and until a reset.
struct OpenGpu {
  nvmlDevice_t device = nullptr;
  Gpu gpu;
};

/// All of them, in NVML's order. What is equal for GPUs of one model is asked of one of them; else they are asked side
/// by side. One that the driver has lost (NVML_ERROR_GPU_IS_LOST) stands in nobody's way, see Gpu::lost.
/// Errors: a GPU that does not answer; all of them are lost.
Result<std::vector<Gpu>> read_gpus(nvidia::nvml::Nvml& nvml);
/// Those with these UUIDs, in their order; of one that is lost only the address is known.
/// Errors: `not_found` one of them is not there any more.
Result<std::vector<OpenGpu>> open_gpus(nvidia::nvml::Nvml& nvml, const std::vector<Target>& targets);

/// Sets Gpu::manager, by the driver that has the GPU, by `named` and by the managers file (nvidia/gpu_managers.hpp).
/// @param named  manager by PCI address or UUID, which counts before that file; null: none
/// Errors: `corrupt` the file cannot be understood: no GPU may be changed then; `invalid` in `named` is not a GPU of
/// this machine. A UUID may be that of a GPU which NVML does not show.
Status name_managers(const Host& host, const Json& named, std::vector<Gpu>& gpus);
/// "the GPU at 0000:65:00.0 belongs to vfio-pci, so it is left alone": those of the PCI bus that NVML does not show.
std::vector<std::string> gpus_of_vfio(const Host& host, const std::vector<Gpu>& gpus);
/// Gives the GPUs that are lost their addresses, where the bus has as many that NVML does not show.
void name_lost_gpus(const Host& host, std::vector<Gpu>& gpus);
/// Addresses of those of the PCI bus that NVML ought to show and does not: they have failed, or their driver did not
/// take them.
std::vector<std::string> lost_gpus(const Host& host, const std::vector<Gpu>& gpus);

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

/// The instances with their handles, each of which is valid until its instance is destroyed. None while MIG is
/// disabled.
Result<std::vector<InstanceHandle>> read_instances(nvidia::nvml::Nvml& nvml, nvmlDevice_t device,
                                                   const std::vector<InstanceProfile>& profiles,
                                                   const std::string& gpu);
/// Its mode and its instances once more; the profiles too where they were not told before.
/// @return the handles of the instances
Result<std::vector<InstanceHandle>> refresh(nvidia::nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu);

/// Finds the GPU, by its UUID. Errors: `not_found` it is not there any more.
Result<nvmlDevice_t> find_gpu(nvidia::nvml::Nvml& nvml, const Target& target);

}  // namespace slipway::mig
