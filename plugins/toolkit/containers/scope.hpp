// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/scope.hpp - the devices that systemd permits to the unit of a container (a scope): only
// these remain for the container when systemd reloads its units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "toolkit/containers/device_rules.hpp"

namespace slipway::toolkit {

/// Returns the scope of a control group: "cri-containerd-….scope"; empty: none.
std::string scope_of(std::string_view cgroup);

struct ScopeDevices {
  bool known = false;                ///< systemd's files of the unit have device settings
  bool all = false;                  ///< all devices are allowed
  std::vector<std::string> allowed;  ///< "/dev/char/195:0", "char-pts", "char-195", "char-*", "/dev/null"

  bool allow(DeviceNumber number, const Host& host) const;
};

/// Reads /run/systemd/transient and the drop-ins of later changes to the unit.
ScopeDevices read_scope(const Host& host, const std::string& scope);

}  // namespace slipway::toolkit
