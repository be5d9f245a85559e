// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/machine/gpu_bus.hpp - the places of GPUs on the PCI bus, by which a config names them: NVML counts in
// the same order, but skips a GPU that was lost before the driver was loaded.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

/// A GPU that NVML should show.
struct BusGpu {
  std::string address;  ///< "0000:65:00.0"
  unsigned device = 0;  ///< PCI device id
  bool bound = false;   ///< the driver is bound to it
  bool operator==(const BusGpu&) const = default;
};

/// A GPU that NVML shows.
struct AnsweringGpu {
  std::string address;  ///< in any form
  std::string product;  ///< NVML's name; empty: a display GPU, which is not offered
};

/// A GPU on the PCI bus that cannot be read: it does not answer, or NVML does not show it.
struct AbsentGpu {
  unsigned number = 0;  ///< its place
  std::string address;  ///< empty: the bus is not visible
  std::string product;  ///< product of another GPU with the same device id; empty: unknown
  bool operator==(const AbsentGpu&) const = default;

  std::string label() const { return gpu_label(number, address); }
};

/// The GPUs on this machine's bus. Reads nothing while the functions on it, and the GPUs that answer, are unchanged.
class GpuBus {
 public:
  /// @param driver_version  of the loaded driver: NVML never shows a GPU that it does not support
  void look(const Host& host, const std::vector<AnsweringGpu>& answering, const std::string& driver_version);

  /// In bus order. Empty if the bus does not show all GPUs that answer, as in some virtual machines: then only NVML's
  /// numbers can be used.
  const std::vector<BusGpu>& gpus() const { return gpus_; }
  std::optional<unsigned> place_of(const std::string& address) const;
  /// Returns the GPUs that do not answer, by place.
  std::vector<AbsentGpu> absent(const std::vector<AnsweringGpu>& answering) const;

 private:
  std::vector<std::string> seen_;
  std::vector<BusGpu> gpus_;
};

}  // namespace slipway::nvidia
