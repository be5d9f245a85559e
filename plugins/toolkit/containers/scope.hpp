// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/scope.hpp - which devices systemd permits to the unit of a container (a scope): those are
// what is left to the container when systemd reloads its units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "toolkit/containers/device_rules.hpp"

namespace slipway::toolkit {

/// The scope that a control group is, or is in: "cri-containerd-….scope"; empty: none.
std::string scope_of(std::string_view cgroup);

struct ScopeDevices {
  bool known = false;                ///< systemd's files about the unit say something about devices
  bool all = false;                  ///< it holds back none
  std::vector<std::string> allowed;  ///< "/dev/char/195:0", "char-pts", "char-195", "char-*", "/dev/null"

  bool allow(DeviceNumber number, const Host& host) const;
};

/// Out of /run/systemd/transient and the drop-ins that later changes of the unit make.
ScopeDevices read_scope(const Host& host, const std::string& scope);

}  // namespace slipway::toolkit
