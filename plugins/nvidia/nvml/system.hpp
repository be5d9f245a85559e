// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/system.hpp - NVML's data about the driver as a whole, and about the processes on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvidia/nvml/abi/process.h"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

/// Returns "550.90.07": the version of the kernel module.
Answer<std::string> driver_version(Nvml& nvml);
/// Returns "12.550.90.07": the version of the library.
Answer<std::string> nvml_version(Nvml& nvml);
/// Returns the newest CUDA version that the driver supports: 1000 * major + 10 * minor.
Answer<int> cuda_version(Nvml& nvml);
/// Returns NVML's name of a process that uses a GPU.
Answer<std::string> process_name(Nvml& nvml, unsigned pid);

struct Process {
  unsigned pid = 0;                           ///< in the host's pid namespace
  std::optional<std::uint64_t> memory_bytes;  ///< empty: the driver does not report it
  std::optional<unsigned> gpu_instance;       ///< empty without MIG, or from drivers before R455
  std::optional<unsigned> compute_instance;
};

enum class ProcessKind { compute, graphics, mps };

/// Returns the processes of a GPU, or of a MIG device.
Answer<std::vector<Process>> processes(Nvml& nvml, nvmlDevice_t device, ProcessKind kind);

}  // namespace slipway::nvidia::nvml
