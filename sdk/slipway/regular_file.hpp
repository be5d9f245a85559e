// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/regular_file.hpp - reads untrusted paths: only regular files, without blocking, up to a limit; and writes
// files for other readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// Opens a regular file of a root for reading. Opens nothing else: a FIFO would block the reader, and a device may
/// react to being opened. Follows the last name when it is a link (inside the root) unless `flags` has O_NOFOLLOW.
/// Errors: `not_found`, `denied`, `io`; `invalid` it is not a regular file, naming its type.
Result<Fd> open_regular(const RootDir& root, std::string_view path, int flags = 0);
/// The same for a path of this process.
Result<Fd> open_regular(const std::string& path, int flags = 0);

/// The same for a name in an open folder; `path` is for messages.
Result<Fd> open_regular(int folder, const std::string& name, std::string_view path, int flags = 0);

/// Returns all bytes from the descriptor's position on; `name` is for messages.
/// Errors: `io`, and `invalid` beyond `limit_bytes`, whatever size the file reports.
Result<std::string> read_all(int fd, std::string_view name, std::size_t limit_bytes);

/// Returns `size_bytes` from `offset_bytes` on, fewer at the end of the file; `name` is for messages. Errors: `io`.
Result<std::string> read_range(int fd, std::string_view name, std::uint32_t offset_bytes, std::uint32_t size_bytes);

/// Calls open_regular() and read_all(). Errors: those of both.
Result<std::string> read_regular(const RootDir& root, std::string_view path, std::size_t limit_bytes, int flags = 0);
Result<std::string> read_regular(const std::string& path, std::size_t limit_bytes, int flags = 0);

/// Writes the content under a temporary name beside `path` and renames it to `path`: readers see the former file or the
/// new one. Replaces a link of that name, and does not follow it. The folder must exist. An error leaves no file
/// behind; the file is not synced to the disk. Errors: those of system_error(), with the path.
Status write_whole(const std::string& path, std::string_view content, mode_t mode = 0644);

}  // namespace slipway
