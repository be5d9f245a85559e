// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/system.hpp - what NVML says of the driver as a whole.
#pragma once

#include <string>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::nvidia::nvml {

/// "550.90.07": of the kernel module.
Answer<std::string> driver_version(Nvml& nvml);
/// "12.550.90.07": of the library.
Answer<std::string> nvml_version(Nvml& nvml);
/// The newest CUDA that the driver supports: 1000 * major + 10 * minor.
Answer<int> cuda_version(Nvml& nvml);
/// The name of a process that uses a GPU, as NVML sees it.
Answer<std::string> process_name(Nvml& nvml, unsigned pid);

}  // namespace slipway::nvidia::nvml
