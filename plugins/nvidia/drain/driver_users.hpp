// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/driver_users.hpp - the processes with an open device that are known to use the driver.
//
// All users can open device nodes, and an open file can be sent to a daemon that did not request it and keeps it: an
// open node alone does not show that a process uses the driver.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <slipway/host.hpp>

#include "nvidia/drain/holders.hpp"
#include "nvidia/nvml/call_thread.hpp"

namespace slipway::nvidia::drain {

/// Processes that NVML lists, and those that run code of the driver's libraries. Borrows the host.
class DriverUsers {
 public:
  explicit DriverUsers(const Host& host) : host_(host) {}
  /// Limited: false for a process that NVML does not list if its memory maps cannot be read within two seconds, and for
  /// the remaining ones after 256 MiB of maps in all.
  bool contains(const DeviceHolder& holder);

 private:
  std::optional<std::string> maps_of(unsigned pid);

  const Host& host_;
  nvml::CallThread thread_;
  std::size_t left_ = std::size_t{256} << 20U;
};

}  // namespace slipway::nvidia::drain
