// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/inventory.hpp - the GPUs and MIG devices that NVML shows, as far as containers are concerned.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::toolkit {

struct MigDevice {
  unsigned index = 0;  ///< below its GPU
  std::string uuid;    ///< "MIG-…"
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
  bool graphics = false;  ///< its profile has the attribute gfx
};

struct GpuDevice {
  unsigned index = 0;  ///< as NVML counts
  std::string uuid;    ///< "GPU-…"
  unsigned minor = 0;  ///< the N of /dev/nvidiaN
  std::string pci_address;
  bool mig_enabled = false;  ///< then only its MIG devices can be used
  std::vector<MigDevice> mig_devices;
  bool coherent = false;  ///< its memory is coherent with the processor's (ATS); false where NVML cannot tell
};

struct Inventory {
  std::string driver_version;  ///< of the loaded kernel module
  std::vector<GpuDevice> gpus;
};

/// Everything in index order, without GPUs that only drive a display (DGX Display).
/// Errors: NVML's, naming the GPU.
Result<Inventory> read_inventory(nvidia::nvml::Nvml& nvml);

/// Three views, which are one and the same unless the driver is installed in a root of its own (a driver container).
/// The hosts are borrowed.
struct Roots {
  const Host& driver;            ///< libraries, programs, firmware, configuration
  const Host& dev;               ///< /dev
  const Host& kernel;            ///< /proc, /sys and loaded modules
  std::string driver_root = "";  ///< the driver's root as engines see it, without a final slash; "" for "/"
  std::string dev_root = "";     ///< likewise for the nodes

  std::string host_path(const std::string& path) const { return driver_root + path; }
};

}  // namespace slipway::toolkit
