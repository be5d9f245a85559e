// SPDX-License-Identifier: Apache-2.0
// core/journal/state_folder.hpp - creates and removes the state folder in one step, with the folders above it that
// slipway made.
//
// Both are renames of the outermost folder: /var in a root without one, else /var/lib, else the state folder itself.
// The remains of an interruption have the name `.slipway-state` beside it, and the next run removes them. Without that
// name, an empty /var/lib made by slipway would look like one that was there before.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/root_fs.hpp"

namespace slipway::core {

/// Removes the remains of an interrupted creation or removal of a folder, or of one above it.
Status sweep_folders(RootFs& root, std::string_view folder);
/// True when sweep_folders() has something to remove.
bool needs_sweep(const RootFs& root, std::string_view folder);

/// Removes a folder in one step, with the folders above it that contain nothing else.
/// @param own  the folder and those above it that slipway made, outermost first; not empty
Status take_folders(RootFs& root, const std::vector<std::string>& own);

/// Creates the state folder with these files in it (name to content).
/// @param origin  the state before: "absent", see RootFs::capture()
Status bring_state_folder(RootFs& root, const Image& origin, const std::map<std::string, std::string>& files);

/// Removes the state folder, and the folders above it that did not exist before it and contain nothing else.
Status take_state_folder(RootFs& root, const Image& origin);

}  // namespace slipway::core
