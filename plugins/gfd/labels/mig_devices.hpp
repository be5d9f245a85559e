// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/labels/mig_devices.hpp - the MIG devices of a GPU with their profiles' names.
#pragma once

#include <string>
#include <vector>

#include "gfd/labels/snapshot.hpp"

namespace slipway::gfd {

/// @param called  the GPU, for errors. Errors: NVML's; `io` an instance of a profile that the driver does not list
Result<std::vector<MigDevice>> read_mig_devices(nvidia::nvml::Nvml& nvml, nvmlDevice_t gpu, const std::string& called);

}  // namespace slipway::gfd
