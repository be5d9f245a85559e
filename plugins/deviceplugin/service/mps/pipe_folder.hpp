// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe_folder.hpp - empties the folder that a daemon shares with its clients.
#pragma once

#include <cstddef>
#include <string>

#include <slipway/result.hpp>

namespace slipway::deviceplugin {

/// What stands in front of the number of a pipe folder that was moved aside. It stays in its folder: to have another
/// one above it, it would have to be ours.
inline constexpr const char* kAside = ".aside-";

/// Leaves an empty folder, or none, at the path: what containers left there would be opened, followed or waited for by
/// a daemon that starts. A folder that cannot be emptied is moved aside, for AsideFolders to remove: pods that have it
/// reach no daemon any more, and those that come later do.
/// @param most  steps until it counts as one that cannot be emptied
/// Errors: system errors, also for as long as too many are aside.
Status renew_pipe_folder(const std::string& path, std::size_t most = 100'000);

}  // namespace slipway::deviceplugin
