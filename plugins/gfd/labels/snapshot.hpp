// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/snapshot.hpp - the result of one pass over the machine's GPUs; labels are made only from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/machine/gpu_bus.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::gfd {

struct MigDevice {
  std::string uuid;
  std::string profile;  ///< "1g.10gb+me", "1c.3g.20gb"
  nvmlDeviceAttributes_t attributes{};
};

struct Gpu {
  unsigned index = 0;
  std::optional<unsigned> place;  ///< among all GPUs on the PCI bus, lost ones too; empty: the bus is not visible
  std::string name;               ///< as NVML returns it
  std::string uuid;               ///< empty: not known
  std::string address;            ///< "0000:65:00.0"
  std::optional<std::uint64_t> memory_mib;
  int compute_major = 0;
  int compute_minor = 0;
  bool mig_capable = false;
  bool mig_enabled = false;
  std::vector<MigDevice> mig;
  std::string clique;                         ///< "CLUSTER-UUID.CLIQUE"; empty: not in a fabric of several nodes
  std::optional<std::uint32_t> device_class;  ///< of the PCI function; empty: not readable
};

struct Snapshot {
  std::string driver_version;  ///< empty: no driver
  unsigned cuda_major = 0;
  unsigned cuda_minor = 0;
  std::vector<Gpu> gpus;  ///< in index order, those that answer
  /// The GPUs that did not answer: "GPU 1: it fell off the bus …", with the remedy.
  std::vector<Error> unreachable;
  std::vector<nvidia::AbsentGpu> absent;  ///< the same GPUs by position, and those that NVML does not show at all
};

/// Reads NVML, and PCI classes from sysfs. A GPU that does not answer is left out: pods use the others. Values that a
/// GPU does not have stay empty.
/// @param with_places  reads the PCI bus: some hundred files, which only a config that names devices needs
/// Errors: NVML's, with the GPU, if no GPU answers or the driver was unloaded meanwhile.
Result<Snapshot> take_snapshot(nvidia::nvml::Nvml& nvml, const Host& host, bool with_places);

/// @param gpu_name  for errors. @param profiles  the known profiles of its model
/// Errors: NVML's; `io` an instance of a profile that the driver does not list
Result<std::vector<MigDevice>> read_mig_devices(nvidia::nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& gpu_name,
                                                nvidia::nvml::KnownProfiles& profiles);

}  // namespace slipway::gfd
