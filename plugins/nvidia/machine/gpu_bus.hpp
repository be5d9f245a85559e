// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/machine/gpu_bus.hpp - the places of GPUs on the PCI bus, by which a config names them: NVML counts in
// the same order, but a GPU that it does not show, because it was lost before the driver was loaded, makes it count the
// others anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

/// A GPU that NVML ought to show.
struct BusGpu {
  std::string address;  ///< "0000:65:00.0"
  unsigned device = 0;  ///< PCI device id
  bool bound = false;   ///< the driver has it
  bool operator==(const BusGpu&) const = default;
};

/// A GPU that NVML shows.
struct AnsweringGpu {
  std::string address;  ///< in any form
  std::string product;  ///< as NVML names it; empty: a display GPU, which nobody offers
};

/// One that is on the PCI bus and cannot be asked: silent, or not shown by NVML at all.
struct AbsentGpu {
  unsigned number = 0;  ///< its place
  std::string address;  ///< empty: the bus cannot be seen
  std::string product;  ///< that of another GPU with the same device id; empty: not known
  bool operator==(const AbsentGpu&) const = default;

  std::string label() const { return gpu_label(number, address); }
};

/// What stands on the bus of this machine. Reads nothing while the functions on it, and the GPUs that answer, are the
/// same as before.
class GpuBus {
 public:
  /// @param driver_version  of the loaded driver: a GPU that it does not support was never one of NVML's
  void look(const Host& host, const std::vector<AnsweringGpu>& answering, const std::string& driver_version);

  /// In bus order. Empty where the bus does not show all GPUs that answer, as in a virtual machine of some kinds: then
  /// NVML's numbers are all that there is.
  const std::vector<BusGpu>& gpus() const { return gpus_; }
  std::optional<unsigned> place_of(const std::string& address) const;
  /// Those that do not answer, by place.
  std::vector<AbsentGpu> absent(const std::vector<AnsweringGpu>& answering) const;

 private:
  std::vector<std::string> seen_;
  std::vector<BusGpu> gpus_;
};

}  // namespace slipway::nvidia
