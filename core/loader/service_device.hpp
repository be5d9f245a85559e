// SPDX-License-Identifier: Apache-2.0
// core/loader/service_device.hpp - whether the device is there without which a service has no use, and which numbers
// the kernel gives the devices that it opens.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>

namespace slipway::core {

/// A device of the bus has a modalias that the glob `device` of a service's file fits ("pci:v000010DE*"); a file
/// without one asks for none. @param sys  the folder that is /sys
bool has_device(const Json& service_file, const std::string& sys);

/// "195 acme\n" for each class of character devices that one of the globs fits. systemd lets a service open those that
/// there were when it started. @param list  the file that is /proc/devices
std::string device_numbers(const std::vector<std::string>& classes, const std::string& list);

}  // namespace slipway::core
