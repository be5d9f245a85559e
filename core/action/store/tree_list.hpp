// SPDX-License-Identifier: Apache-2.0
// core/action/store/tree_list.hpp - the list of all that is in a folder, with checksums: made once, compared later.
//
// One canonical JSON object per line, sorted by path: {"mode", "path", "type": "directory|regular|symlink|other"} and
// for a file "digest" and "size", for a link "points_to". No times and no owners, so equal trees give equal lists.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Walks and hashes everything below; several files at a time. Errors: `io`, `denied`.
Result<std::string> list_tree(const RootDir& folder);

/// How a tree differs from its list, one sentence for each path: changed, missing, or more than was listed.
std::vector<std::string> compare_lists(const std::string& wanted, const std::string& found);

}  // namespace slipway::core
