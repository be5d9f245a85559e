// SPDX-License-Identifier: Apache-2.0
// artifact/io/file.hpp - whole files and trees: read, replace durably, remove.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// Opens a regular file for reading. Errors: those of open_regular().
Result<Fd> open_for_reading(const std::string& path);

/// Makes a file for writing (mode 0644 under the umask). Errors: as the system says, also when something has the name,
/// be it a link.
Result<Fd> create_file(const std::string& path);

/// A file as text. Errors: `invalid` when it is longer than `limit` bytes; as the system says.
Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// Writes all of it. `name` stands for the file in errors.
Status write_all(int fd, std::span<const std::byte> bytes, std::string_view name);

/// Puts `bytes` in the place of `path`: a temporary file beside it, fsync, rename, fsync of the folder. Mode 0644.
Status replace_file(const std::string& path, std::string_view bytes);

/// Makes the last rename inside `directory` durable.
Status sync_directory(const std::string& directory);

/// Makes a folder and those above it (mode 0755).
Status make_directories(const std::string& path);

/// Removes a tree without following links; nothing there is success.
Status remove_tree(const std::string& path);

/// The folder part of an absolute path.
std::string parent_of(const std::string& path);

}  // namespace slipway::artifact
