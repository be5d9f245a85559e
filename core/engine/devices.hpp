// SPDX-License-Identifier: Apache-2.0
// core/engine/devices.hpp - the PCI devices of a machine that plugins are for.
#pragma once

#include <vector>

#include <slipway/host.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

/// PCI functions that fit a `service_device` of an installed plugin, in bus order; none without a kernel's view.
std::vector<PciDevice> plugin_devices(const Session& session);

/// Those of them that are GPUs (PCI class 03, display controllers), without virtual functions of SR-IOV.
std::vector<PciDevice> gpus_on_bus(const Session& session);

/// "10de:2330"
std::string pci_id(const PciDevice& device);

}  // namespace slipway::core
