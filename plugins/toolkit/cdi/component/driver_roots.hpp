// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/driver_roots.hpp - below which folders the driver and its device nodes are.
#pragma once

#include <string>

#include <slipway/host.hpp>

namespace slipway::toolkit {

struct DriverRoots {
  std::string driver;
  std::string dev;
};

/// Looks for what the spec leaves open ("auto"): the driver in the root itself, else in the root that a driver
/// container puts at /run/nvidia/driver; the nodes below that root where it has some, else in the root itself. "/"
/// where there is no driver at all.
DriverRoots find_driver_roots(const Host& host, const std::string& driver, const std::string& dev);

}  // namespace slipway::toolkit
