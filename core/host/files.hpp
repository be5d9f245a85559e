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

inline constexpr unsigned kPermissionBits = 07777;           ///< of a file's mode, set-user-id and the like among them
inline constexpr std::int64_t kNanoseconds = 1'000'000'000;  ///< in a second

using slipway::write_all;
/// From one descriptor's position to its end, into the other, a new file: long runs of zeros become holes there, so
/// that what is large by its holes alone takes no room. Errors: `no_space`, `io`.
Status copy_all(int from, int to, std::string_view name);

/// Sorted, without "." and "..". The descriptor was opened for reading and stays open. Errors: `io`; `invalid` there
/// are more than `most_names`: the author of an image can fill a folder until whoever lists it has no memory left.
Result<std::vector<std::string>> folder_names(int folder, std::string_view path, std::size_t most_names = 100'000);

/// Empty when there is nothing at the path or it is not a link. Errors: `io`, `denied`.
Result<std::string> read_link_at(const RootDir& root, const std::string& path);

/// The same for a name in an open folder; `path` is for messages.
Result<std::string> read_link_name(int folder, const std::string& name, const std::string& path);

/// Every link below a folder: its path relative to the folder, and where it points. Links are not followed.
Result<std::map<std::string, std::string>> links_below(const RootDir& root, const std::string& folder);

/// As unlinkat(2), but a name that is not there is ENOENT in a read-only filesystem too, where the kernel says EROFS
/// before it looks: bringing a read-only folder back to what it is needs no change.
int unlink_name(int folder, const std::string& name, int flags);

/// Host paths; `to` is made. Owners become the caller's; special files are left out. Shares the blocks where the
/// filesystem can (reflink). Errors: `no_space`, `io`, `denied`.
Status copy_tree(const std::string& from, const std::string& to);

}  // namespace slipway::core
