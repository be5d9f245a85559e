// SPDX-License-Identifier: Apache-2.0
// artifact/io/file.hpp - files and trees: made, made durable, removed.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"

namespace slipway::artifact {

/// Makes a file for writing (mode 0644 under the umask). Errors: as the system says, also when something has the name,
/// be it a link.
Result<Fd> create_file(const std::string& path);

/// Makes the last rename inside `directory` durable.
Status sync_directory(const std::string& directory);

/// Makes a folder and those above it (mode 0755).
Status make_directories(const std::string& path);

/// Whether there is room for so many bytes more where an open file lies, beside a reserve for all other programs: a
/// twentieth of the file system, at most 1 GiB. Errors: `no_space`; `name` is for the message.
Status check_room(int fd, std::uint64_t bytes, const std::string& name);
/// How often that is asked again while a file is written: others write as well.
inline constexpr std::uint64_t kBytesBetweenLooks = std::uint64_t{16} << 20U;

/// Removes a tree without following links; nothing there is success.
Status remove_tree(const std::string& path);

}  // namespace slipway::artifact
