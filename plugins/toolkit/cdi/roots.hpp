// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/roots.hpp - where the driver, its device nodes and the kernel's files are looked at.
#pragma once

#include <string>

#include <slipway/host.hpp>

namespace slipway::toolkit {

/// Three views, which are one and the same unless the driver is installed in a root of its own (a driver container).
/// The hosts are borrowed.
struct Roots {
  const Host& driver;            ///< libraries, programs, firmware, configuration
  const Host& dev;               ///< /dev
  const Host& kernel;            ///< /proc, /sys and loaded modules
  std::string driver_root = "";  ///< the driver's root as engines see it, without a final slash; "" for "/"
  std::string dev_root = "";     ///< likewise for the nodes

  std::string host_path(const std::string& path) const { return driver_root + path; }
};

}  // namespace slipway::toolkit
