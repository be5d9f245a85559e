// SPDX-License-Identifier: Apache-2.0
// core/host/files.hpp - files, folders, links and extended attributes on descriptors, with errors that name the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/regular_file.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "base/write/new_file.hpp"

namespace slipway::core {

inline constexpr unsigned kPermissionBits = 07777;  ///< the permission bits of a file's mode, including set-user-id
inline constexpr std::int64_t kNanoseconds = 1'000'000'000;  ///< per second

using slipway::base::write_all;
/// Copies the rest of one descriptor's file, from its position on, into the other descriptor's new file. Long runs of
/// zeros become holes, so that a sparse file takes no more space than before. Errors: `no_space`, `io`.
Status copy_all(int from, int to, std::string_view name);

/// Returns the sorted names without "." and "..". The descriptor was opened for reading and stays open. Errors: `io`;
/// `invalid` when there are more than `most_names`: the author of an image could fill a folder until a program that
/// lists it runs out of memory.
Result<std::vector<std::string>> folder_names(int folder, std::string_view path, std::size_t most_names = 100'000);

/// Returns a link's target; empty when nothing is at the path or it is not a link. Errors: `io`, `denied`.
Result<std::string> read_link_at(const RootDir& root, const std::string& path);

/// The same for a name in an open folder; `path` is for messages.
Result<std::string> read_link_name(int folder, const std::string& name, const std::string& path);

/// Returns every link below a folder: its path relative to the folder, and its target. Does not follow links.
Result<std::map<std::string, std::string>> links_below(const RootDir& root, const std::string& folder);

/// Like unlinkat(2), but a missing name is ENOENT in a read-only filesystem too, where the kernel returns EROFS before
/// it looks: restoring a read-only folder to its present state needs no change.
int unlink_name(int folder, const std::string& name, int flags);

/// Copies between host paths and creates `to`. The caller owns the copies; special files are skipped. Shares the blocks
/// where the filesystem can (reflink). Errors: `no_space`, `io`, `denied`.
Status copy_tree(const std::string& from, const std::string& to);

}  // namespace slipway::core
