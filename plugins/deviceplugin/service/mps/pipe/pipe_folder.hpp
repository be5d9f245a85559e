// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/pipe_folder.hpp - replaces the pipe folder that a daemon shared with its
// clients by a new one.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::deviceplugin {

/// MPSROOT/nvidia.com/gpu becomes MPSROOT/nvidia.com/.gpu.aside-0: a resource name never begins with a dot.
std::string aside_name(const std::string& folder, int number);
bool is_aside(const std::string& name);

/// Moves the resource's folder aside, with the pipe folder in it, and creates a new one. A daemon that starts would
/// open, follow or wait for files that containers left in the pipe folder. AsideFolders empties and removes the old
/// folder: pods that use its pipe folder no longer reach a daemon, later pods do. The new folder gets the other files
/// of the old one: logs, and the service's records. It touches nothing that pods can lock, so it never blocks.
/// @param folder  of the resource; it need not exist
/// Errors: system errors, also while too many folders are aside.
Status renew_resource_folder(const std::string& folder);

}  // namespace slipway::deviceplugin
