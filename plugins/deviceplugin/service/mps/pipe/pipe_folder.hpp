// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/pipe_folder.hpp - puts a new pipe folder in the place of the one that a daemon
// shared with its clients.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::deviceplugin {

/// MPSROOT/nvidia.com/gpu becomes MPSROOT/nvidia.com/.gpu.aside-0: no name of a resource begins with a dot.
std::string aside_name(const std::string& folder, int number);
bool is_aside(const std::string& name);

/// What containers left in a pipe folder would be opened, followed or waited for by a daemon that starts. So the folder
/// of the resource goes aside with the pipe folder in it, for AsideFolders to empty and remove: pods that have that
/// pipe folder reach no daemon any more, and those that come later do. A new folder has the files that the old one had
/// beside the pipe folder: logs, and what the service noted. Nothing that pods can lock is touched, so it waits for
/// nobody.
/// @param folder  of the resource; there need not be one
/// Errors: system errors, also for as long as too many are aside.
Status renew_resource_folder(const std::string& folder);

}  // namespace slipway::deviceplugin
