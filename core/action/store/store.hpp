// SPDX-License-Identifier: Apache-2.0
// core/action/store/store.hpp - the folder of layers (/usr/lib/slipway/store/NAME), and lists of trees with checksums.
//
//   sha256-HEX/        one layer's content; HEX is layer_key()
//   sha256-HEX.files   the list of its files, see tree_list.hpp
//   set-HEX/AS         a relative link to a layer's folder; HEX is the hash of the canonical list of {"as", "folder"}
//   current            a link to the active set: the only thing that a switch changes
//   .staging-…         not complete yet
//
// One canonical JSON object per line, sorted by path: {"mode", "path", "type": "directory|regular|symlink|other"} and
// for a file "digest" and "size", for a link "points_to". No times and no owners, so equal trees give equal lists.
#pragma once

#include <map>
#include <set>
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

/// Identifies a layer's content, "sha256:…": the descriptor's digest; for a build, a digest of the build and its
/// source.
std::string layer_key(const Json& layer);
/// The folder of a layer in its store: "sha256-HEX".
std::string layer_folder(const Json& layer);

/// Returns the links of a set, `as` to layer folder. Errors: `invalid` for names that would leave the store or collide.
Result<std::map<std::string, std::string>> layer_links(const Json& layers);
/// The name "set-HEX" of the links that layer_links() returns.
std::string set_folder(const std::map<std::string, std::string>& links);

/// Returns the paths that drop_unused_layers() would remove. Empty when the name is not a single path component (a
/// record may have been tampered with) and when the store itself is a link.
/// @param kept  former sets whose layers stay as well; those that no longer exist are ignored
Result<std::vector<std::string>> unused_layers(const RootFs& root, const std::string& name,
                                               const std::vector<std::string>& kept = {});

/// Removes everything that the store's `current` does not refer to: former layers, former sets and remains of a crash.
/// The engine calls it after success. Without `current`, removes the whole store.
Status drop_unused_layers(RootFs& root, const std::string& name, const std::vector<std::string>& kept = {});

/// Returns the name of the active set, "set-HEX"; empty without one.
Result<std::string> active_set(const RootFs& root, const std::string& name);
/// Returns the folders of a set's layers in the store: "sha256-HEX". Empty when the set does not exist.
Result<std::set<std::string>> layers_of_set(const RootFs& root, const std::string& name, const std::string& set);
/// True when the layer's folder is in the store, and so complete.
bool has_layer(const RootFs& root, const std::string& name, const Json& layer);

/// Walks and hashes everything below; several files at a time. Errors: `io`, `denied`.
Result<std::string> list_tree(const RootDir& folder);

/// Describes how a tree differs from its list, one sentence per path: changed, missing, or not in the list.
std::vector<std::string> compare_lists(const std::string& wanted, const std::string& found);

}  // namespace slipway::core
