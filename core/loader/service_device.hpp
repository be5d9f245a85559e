// SPDX-License-Identifier: Apache-2.0
// core/loader/service_device.hpp - whether the device is there without which a service has no use.
#pragma once

#include <string>

#include <slipway/json.hpp>

namespace slipway::core {

/// A device of the bus has a modalias that the glob `device` of a service's file fits ("pci:v000010DE*"); a file
/// without one asks for none. @param sys  the folder that is /sys
bool has_device(const Json& service_file, const std::string& sys);

}  // namespace slipway::core
