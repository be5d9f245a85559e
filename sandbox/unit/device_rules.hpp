// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/device_rules.hpp - the devices that a service's unit lets it open: systemd writes their numbers into the
// rules of its cgroup when it starts, and does not look again.
#pragma once

#include <string>
#include <vector>

namespace slipway::core {

/// "195 acme\n" for each class of character devices that one of the globs fits, as there are now.
/// @param list  the file that is /proc/devices
std::string device_numbers(const std::vector<std::string>& classes, const std::string& list);

/// A node with one of those numbers that the rules keep this process from (EPERM), though its mode does not: the device
/// got its number after systemd had written them. No device is opened. Empty: there is none.
/// @param numbers  what device_numbers() gave  @param dev  the folder that is /dev; it and the folders in it are read
std::string closed_node(const std::string& numbers, const std::string& dev);

}  // namespace slipway::core
