// SPDX-License-Identifier: Apache-2.0
// core/action/store/store.hpp - where layers lie (/usr/lib/slipway/store/NAME), and lists of trees with checksums.
//
//   sha256-HEX/        one layer's content; HEX is layer_key()
//   sha256-HEX.files   what is in it, see tree_list.hpp
//   set-HEX/AS         a relative link to a layer's folder; HEX is of the canonical list of {"as", "folder"}
//   current            a link to the set that counts: the one thing that a switch changes
//   .staging-…         not complete yet
//
// One canonical JSON object per line, sorted by path: {"mode", "path", "type": "directory|regular|symlink|other"} and
// for a file "digest" and "size", for a link "points_to". No times and no owners, so equal trees give equal lists.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "core/host/root_fs.hpp"

namespace slipway::core {

/// "/usr/lib/slipway/store/NAME"
std::string store_folder(const std::string& name);

/// What makes a layer's content, "sha256:…": the descriptor's digest; for a build, of the build and of its source.
std::string layer_key(const Json& layer);
/// The folder of a layer in its store: "sha256-HEX".
std::string layer_folder(const Json& layer);

/// The links of a set, `as` to layer folder. Errors: `invalid` for names that would leave the store or collide.
Result<std::map<std::string, std::string>> layer_links(const Json& layers);
/// "set-HEX" of layer_links().
std::string set_folder(const std::map<std::string, std::string>& links);

/// What drop_unused_layers() would remove, as paths. Nothing for a name that is not a single path component, as a
/// record of others may have it, and where the store itself is a link.
Result<std::vector<std::string>> unused_layers(const RootFs& root, const std::string& name);

/// Removes what `current` of this store does not lead to: former layers, sets and what a crash left half done. For the
/// engine, after success. Where there is no `current`, the whole store goes.
Status drop_unused_layers(RootFs& root, const std::string& name);

/// Walks and hashes everything below; several files at a time. Errors: `io`, `denied`.
Result<std::string> list_tree(const RootDir& folder);

/// How a tree differs from its list, one sentence for each path: changed, missing, or more than was listed.
std::vector<std::string> compare_lists(const std::string& wanted, const std::string& found);

}  // namespace slipway::core
