// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/fabric.hpp - the NVLink fabric that a GPU is part of.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "nvidia/nvml/abi/device.h"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::gfd {

struct Fabric {
  unsigned state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
  nvmlReturn_t status = NVML_SUCCESS;  ///< valid in state COMPLETED only
  std::array<std::uint8_t, NVML_GPU_FABRIC_UUID_LEN> cluster{};
  unsigned clique = 0;
  unsigned health_mask = 0;  ///< 0 if the driver does not report it

  /// True when registered with a fabric of several nodes; a single HGX machine completes with a cluster of zeros.
  bool attached() const;
  /// "7b968a6d-c8aa-45e1-9e07-e1e51be99c31".
  std::string cluster_uuid() const;
};

/// Uses the newest layout that the driver supports. Answers `absent()` without a fabric.
nvidia::nvml::Answer<Fabric> fabric(nvidia::nvml::Nvml& nvml, nvmlDevice_t device);

}  // namespace slipway::gfd
