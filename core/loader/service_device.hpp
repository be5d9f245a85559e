// SPDX-License-Identifier: Apache-2.0
// core/loader/service_device.hpp - finds the device without which a service is useless.
#pragma once

#include <string>

#include <slipway/json.hpp>

namespace slipway::core {

/// True when a device's modalias matches the glob `device` of a service's file ("pci:v000010DE*"), or the file has no
/// such key.
/// @param sys  the folder used as /sys
bool has_device(const Json& service_file, const std::string& sys);

}  // namespace slipway::core
