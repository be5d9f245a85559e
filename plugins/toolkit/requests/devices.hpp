// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/devices.hpp - device nodes of CDI specs as OCI configurations describe them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"

namespace slipway::shim {

/// A node of the host.
struct HostNode {
  std::string type;  ///< "b", "c" or "p"
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::uint32_t mode = 0;  ///< permission bits
};
/// Errors: `not_found`; `invalid` when the path is not a device node.
using ReadNode = std::function<Result<HostNode>(const std::string& path)>;
Result<HostNode> read_host_node(const std::string& path);

/// Returns the spec's node, with missing values taken from the host's node. Errors: those of `read_node`; `conflict`
/// when the host's node has other numbers than the spec.
Result<nvidia::cdi::DeviceNode> complete_node(nvidia::cdi::DeviceNode node, const ReadNode& read_node);

/// Returns an element of linux.devices. @param node  complete
Json device_entry(const nvidia::cdi::DeviceNode& node);
/// Returns an element of linux.resources.devices, which lets the container use the node.
Json cgroup_rule(const nvidia::cdi::DeviceNode& node);

}  // namespace slipway::shim
