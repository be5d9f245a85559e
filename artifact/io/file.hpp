// SPDX-License-Identifier: Apache-2.0
// artifact/io/file.hpp - creates, syncs and removes files and trees.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"

namespace slipway::artifact {

/// Creates a file for writing (mode 0644 under the umask). Errors: those of the system, also when the name exists, even
/// as a link.
Result<Fd> create_file(const std::string& path);

/// Syncs the last rename inside `directory` to the disk.
Status sync_directory(const std::string& directory);

/// Creates a folder and those above it (mode 0755).
Status make_directories(const std::string& path);

/// Checks that the file system of an open file has room for so many more bytes, plus a reserve for other programs: a
/// twentieth of the file system, at most 1 GiB. Errors: `no_space`; `name` is for the message.
Status check_room(int fd, std::uint64_t bytes, const std::string& name);
/// The interval for checking again while a file is written: other programs write as well.
inline constexpr std::uint64_t kBytesBetweenLooks = std::uint64_t{16} << 20U;

/// Removes a tree without following links; succeeds if the tree does not exist.
Status remove_tree(const std::string& path);

}  // namespace slipway::artifact
