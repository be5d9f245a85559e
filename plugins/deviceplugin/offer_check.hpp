// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/offer_check.hpp - checks a config against the GPUs of this machine like the service: devices
// that it could not offer are reported in advance.
#pragma once

#include <string>

#include <slipway/host.hpp>

#include "deviceplugin/devices/offer_judgement.hpp"

namespace slipway::deviceplugin {

/// Asks NVML if the driver is loaded and the config depends on the GPUs. Before a driver is loaded, a config that
/// cannot match the GPUs on the PCI bus is a problem too: an apply would change the machine first and fail later.
OfferCheck check_offer(const nvidia::config::Settings& settings, const std::string& driver_root, const Host& host);

}  // namespace slipway::deviceplugin
