// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/device_rules.hpp - the devices that a service's unit lets it open: systemd writes their numbers into the
// rules of its cgroup at the start, and does not update them.
#pragma once

#include <string>
#include <vector>

namespace slipway::sandbox {

/// Returns "195 acme\n" for each present class of character devices that matches one of the globs.
/// @param list  the file used as /proc/devices
std::string device_numbers(const std::vector<std::string>& classes, const std::string& list);

/// Returns a node with one of those numbers that the rules refuse to this process (EPERM) although its mode does not:
/// the device got its number after systemd had written the rules. Opens no device. Empty when there is none.
/// @param numbers  from device_numbers()  @param dev  the folder used as /dev; it and its subfolders are read
std::string closed_node(const std::string& numbers, const std::string& dev);

}  // namespace slipway::sandbox
