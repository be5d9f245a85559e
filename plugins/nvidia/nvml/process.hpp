// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/process.hpp - who uses a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nvidia/nvml/abi/process.h"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

struct Process {
  unsigned pid = 0;                           ///< as the host's kernel counts
  std::optional<std::uint64_t> memory_bytes;  ///< empty: the driver does not tell
  std::optional<unsigned> gpu_instance;       ///< empty without MIG, or from drivers before R455
  std::optional<unsigned> compute_instance;
};

enum class ProcessKind { compute, graphics, mps };

/// Of a GPU, or of a MIG device.
Answer<std::vector<Process>> processes(Nvml& nvml, nvmlDevice_t device, ProcessKind kind);

}  // namespace slipway::nvidia::nvml
