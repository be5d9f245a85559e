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

/// Enabling MIG resets a GPU of the Ampere generation, and the driver answers only after that.
inline constexpr std::chrono::seconds kChangeLimit{60};

/// @param call_limit  for each call; the default is for queries
/// Errors: those of choose_library() and Nvml::open().
Result<std::unique_ptr<nvidia::nvml::Nvml>> open_nvml(const Host& host, const std::string& driver_root,
                                                      std::chrono::milliseconds call_limit = std::chrono::seconds(10));

/// The same for a tool that only reads, and then exits (NvmlOptions::until_exit).
Result<std::unique_ptr<nvidia::nvml::Nvml>> open_nvml_to_look(const Host& host);

/// A GPU with its handle, which is valid in this session of NVML and until a reset.
struct OpenGpu {
  nvmlDevice_t device = nullptr;
  Gpu gpu;
};

/// Reads all GPUs in NVML's order, in parallel. Properties of a model are read from one GPU of each model. A GPU that
/// the driver has lost (NVML_ERROR_GPU_IS_LOST) does not fail the call, see Gpu::lost. Errors: a GPU that does not
/// answer; all of them are lost.
Result<std::vector<Gpu>> read_gpus(nvidia::nvml::Nvml& nvml);
/// Returns the GPUs with these UUIDs, in their order; of a lost one only the address is known. Errors: `not_found` one
/// of them is missing.
Result<std::vector<OpenGpu>> open_gpus(nvidia::nvml::Nvml& nvml, const std::vector<Target>& targets);

/// Sets Gpu::manager from the GPU's driver, `named`, and the managers file (nvidia/gpu_managers.hpp).
/// @param named  manager by PCI address or UUID, which overrides that file; null: none
/// Errors: `corrupt` the file is invalid: then no GPU may be changed; `invalid` in `named` is not a GPU of
/// this machine. A UUID may be that of a GPU which NVML does not show.
Status name_managers(const Host& host, const Json& named, std::vector<Gpu>& gpus);
/// Returns lines such as "the GPU at 0000:65:00.0 belongs to vfio-pci, so it is left alone", for GPUs on the PCI bus
/// that NVML does not show.
std::vector<std::string> gpus_of_vfio(const Host& host, const std::vector<Gpu>& gpus);
/// Sets the addresses of lost GPUs, if the bus has as many GPUs that NVML does not show.
void name_lost_gpus(const Host& host, std::vector<Gpu>& gpus);
/// Returns the addresses of GPUs on the PCI bus that NVML should show and does not: they have failed, or their driver
/// did not bind them.
std::vector<std::string> lost_gpus(const Host& host, const std::vector<Gpu>& gpus);

/// A handle of a GPU instance or of its compute instance.
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

/// Returns the instances with their handles, each of which is valid until its instance is destroyed. Empty while MIG is
/// disabled.
Result<std::vector<InstanceHandle>> read_instances(nvidia::nvml::Nvml& nvml, nvmlDevice_t device,
                                                   const std::vector<InstanceProfile>& profiles,
                                                   const std::string& gpu);
/// Reads mode and instances again, and the profiles if they were not available before.
/// @return the handles of the instances
Result<std::vector<InstanceHandle>> refresh(nvidia::nvml::Nvml& nvml, nvmlDevice_t device, Gpu& gpu);

/// Finds the GPU by its UUID. Errors: `not_found` it is missing.
Result<nvmlDevice_t> find_gpu(nvidia::nvml::Nvml& nvml, const Target& target);

}  // namespace slipway::mig
