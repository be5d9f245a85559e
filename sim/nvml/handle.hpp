// SPDX-License-Identifier: Apache-2.0
// sim/nvml/handle.hpp - handles that contain the identity of their object, so that a stale one is detected.
#pragma once

#include "nvidia/nvml/abi/base.h"
#include "nvidia/nvml/abi/device.h"
#include "sim/state/machine.hpp"

namespace slipway::sim {

enum class Kind : std::uint32_t { none, gpu, mig_device, gpu_instance, compute_instance };

/// The target of a handle, looked up in the machine at each call.
struct Target {
  Kind kind = Kind::none;
  unsigned gpu_index = 0;
  Gpu* gpu = nullptr;
  GpuInstance* instance = nullptr;     ///< for all but whole GPUs
  ComputeInstance* compute = nullptr;  ///< for MIG devices and compute instances
};

/// The handle's bits: 16 "5LPW", 16 epoch, 4 kind, 4 GPU, 4 slots each, 16 serial.
void* make_handle(const Machine& machine, Kind kind, unsigned gpu, unsigned instance = 0, unsigned compute = 0);
/// kind none: not one of the library's handles, or its target no longer exists.
Target find_target(Machine& machine, const void* handle);

unsigned instance_slot(const Gpu& gpu, const GpuInstance* instance);
unsigned compute_slot(const GpuInstance& instance, const ComputeInstance* compute);

void write_pci_info(const Gpu& gpu, nvmlPciInfo_t& info);

}  // namespace slipway::sim
