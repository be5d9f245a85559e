// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/made_folders.hpp - which folders are slipway's own work, so that they go with the last thing in
// them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/journal/state_dir.hpp"

namespace slipway::core {

/// The folders that were not there before what is held now came.
std::set<std::string> made_folders(const std::map<std::string, Ownership>& owned);

/// Something new in a folder that an earlier apply made: that folder goes with it as well, once it is empty.
/// @param image  of the action's target before it is made, or with images of its parts, such as a unit's file and
/// links;
///               others than "absent" stay as they are
void add_made_parents(Image& image, const Action& action, const std::set<std::string>& made);

}  // namespace slipway::core
