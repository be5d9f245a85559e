// SPDX-License-Identifier: Apache-2.0
// sim/nvml/place.hpp - a GPU's PCI address in NVML's form.
#pragma once

#include "nvidia/nvml/abi/device.h"
#include "sim/state/machine.hpp"

namespace slipway::sim {

void write_pci_info(const Gpu& gpu, nvmlPciInfo_t& info);

}  // namespace slipway::sim
