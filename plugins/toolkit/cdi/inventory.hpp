// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/inventory.hpp - the GPUs and MIG devices that NVML shows, as far as containers are concerned.
#pragma once

#include <optional>
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
  bool mig_enabled = false;  ///< only its MIG devices can be used then
  std::vector<MigDevice> mig_devices;
  bool coherent = false;  ///< its memory is coherent with the processor's (ATS); false if NVML does not report it
};

/// A GPU that cannot be used: NVML says so, a call about it hangs, or NVML does not show it although it is on the PCI
/// bus.
struct LostGpu {
  std::optional<unsigned> index;  ///< NVML's index; empty: NVML does not show it
  std::string pci_address;        ///< empty: unknown
  std::string why;                ///< "the GPU fell off the bus … (NVML_ERROR_GPU_IS_LOST, 15)"

  bool hangs = false;  ///< calls about it hang

  /// "GPU 3 (0000:65:00.0)".
  std::string name() const;
  /// Returns "is lost" or "does not answer".
  std::string state() const { return hangs ? "does not answer" : "is lost"; }
  std::string remedy() const;
};

struct Inventory {
  std::string driver_version;  ///< of the loaded kernel module
  std::vector<GpuDevice> gpus;
  std::vector<LostGpu> lost = {};  ///< those that NVML shows in index order, then the others in bus order
};

/// Everything in index order, without GPUs that only drive a display (DGX Display). A GPU that does not answer, and one
/// on the PCI bus that NVML does not show and no other program has, is listed in `lost`; the others are still read.
/// @param kernel  its PCI bus
/// Errors: NVML's, with the GPU; a MIG device that cannot be read is an error too, since its layout may be changing.
Result<Inventory> read_inventory(nvidia::nvml::Nvml& nvml, const Host& kernel);

/// Says which GPU is lost and why, and that the specs leave it out.
struct LostNote {
  std::string text;
  std::string remedy;
};
std::vector<LostNote> lost_notes(const Inventory& inventory);

/// Three views, which are the same unless the driver is installed in a root of its own (a driver container). The hosts
/// are borrowed.
struct Roots {
  const Host& driver;            ///< libraries, programs, firmware, configuration
  const Host& dev;               ///< /dev
  const Host& kernel;            ///< /proc, /sys and loaded modules
  std::string driver_root = "";  ///< the driver's root in the engines' view, without a final slash; "" for "/"
  std::string dev_root = "";     ///< likewise for the nodes

  std::string host_path(const std::string& path) const { return driver_root + path; }
};

}  // namespace slipway::toolkit
