// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/endpoint/stale_sockets.hpp - the names of the device plugin's sockets, and the sockets
// that an earlier start left.
#pragma once

#include <string>
#include <vector>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {

/// "nvidia.com/gpu" -> "nvidia-gpu.sock".
std::string socket_name(const std::string& resource);

/// Removes the sockets of that form in plugins_registry without a listener: kubelet would retry each of them forever.
/// @return their paths
std::vector<std::string> remove_stale_sockets(const RootDir& root, const std::string& registry);

}  // namespace slipway::deviceplugin
