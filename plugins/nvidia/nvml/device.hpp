// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/device.hpp - GPUs: how to find them, their identity and their memory.
//
// An index is the position among the visible GPUs in bus order: it changes with them. Keep the UUID or PCI address.
#pragma once

#include <cstdint>
#include <string>

#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

/// Bytes. `used` excludes the driver's own memory, if the driver reports it separately.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t reserved = 0;
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};

struct ComputeCapability {
  int major = 0;
  int minor = 0;
};

struct PciPlace {
  std::string address;  ///< as in sysfs: "0000:65:00.0"
  std::uint16_t device = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem_device = 0;
};

Answer<unsigned> device_count(Nvml& nvml);
Answer<nvmlDevice_t> device_at(Nvml& nvml, unsigned index);
/// "GPU-…" or "MIG-…".
Answer<nvmlDevice_t> device_by_uuid(Nvml& nvml, const std::string& uuid);
Answer<nvmlDevice_t> device_by_pci(Nvml& nvml, const std::string& address);

Answer<std::string> device_name(Nvml& nvml, nvmlDevice_t device);
Answer<std::string> device_uuid(Nvml& nvml, nvmlDevice_t device);
Answer<std::string> device_serial(Nvml& nvml, nvmlDevice_t device);
/// The N of /dev/nvidiaN.
Answer<unsigned> device_minor(Nvml& nvml, nvmlDevice_t device);
Answer<unsigned> device_index(Nvml& nvml, nvmlDevice_t device);
Answer<PciPlace> device_pci(Nvml& nvml, nvmlDevice_t device);
Answer<ComputeCapability> compute_capability(Nvml& nvml, nvmlDevice_t device);
/// The numbers of nvidia-smi; without nvmlDeviceGetMemoryInfo_v2 `used` includes the reserved part.
Answer<Memory> memory(Nvml& nvml, nvmlDevice_t device);
/// Returns `total` of the first memory call, which GPU Feature Discovery and MIG names use.
Answer<std::uint64_t> memory_total(Nvml& nvml, nvmlDevice_t device);

/// True when processor and GPU address each other's memory through the address translation services of the bus, as on
/// Grace Hopper. Drivers before 580 do not report it.
Answer<bool> uses_ats(Nvml& nvml, nvmlDevice_t device);

/// Converts "00000000:65:00.0" to "0000:65:00.0"; a domain of more than 16 bits keeps its digits.
std::string sysfs_address(const std::string& bus_id);

}  // namespace slipway::nvidia::nvml
