// SPDX-License-Identifier: Apache-2.0
// core/journal/state_folder.hpp - the state folder comes and goes in one step, with the folders above it that are
// slipway's own.
//
// Both are renames of the outermost folder: /var in a root that had none, else /var/lib, else the state folder itself.
// What a cut leaves goes by the name `.slipway-state` beside it and is removed by the next run; without that, nobody
// could tell an empty /var/lib that slipway made from one that was there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/root_fs.hpp"

namespace slipway::core {

/// Removes what a cut left of making or removing a folder, or one above it.
Status sweep_folders(RootFs& root, std::string_view folder);
/// There is something that sweep_folders() would remove.
bool needs_sweep(const RootFs& root, std::string_view folder);

/// Removes a folder, and those above it that hold nothing else, in one step.
/// @param own  the folder and those above it that are slipway's own, outermost first; not empty
Status take_folders(RootFs& root, const std::vector<std::string>& own);

/// Makes the state folder, with these files in it (name to content).
/// @param origin  what was there before: "absent", see RootFs::capture()
Status bring_state_folder(RootFs& root, const Image& origin, const std::map<std::string, std::string>& files);

/// Removes the state folder, and the folders above it that were missing before it and hold nothing else.
Status take_state_folder(RootFs& root, const Image& origin);

}  // namespace slipway::core
