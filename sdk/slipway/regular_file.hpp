// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/regular_file.hpp - reads files that somebody else may have put there: regular ones only, without waiting,
// up to a limit; and writes files that others read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// A regular file of a root, open for reading. Nothing else there is opened: a FIFO would hold the reader up, and a
/// device may act on it. The last name is followed when it is a link (inside the root) unless `flags` has O_NOFOLLOW.
/// Errors: `not_found`, `denied`, `io`; `invalid` it is not a regular file, saying what it is.
Result<Fd> open_regular(const RootDir& root, std::string_view path, int flags = 0);
/// The same by a path of this process.
Result<Fd> open_regular(const std::string& path, int flags = 0);

/// The same by its name in an open folder; `path` is for messages.
Result<Fd> open_regular(int folder, const std::string& name, std::string_view path, int flags = 0);

/// All bytes from the descriptor's position on; `name` is for messages.
/// Errors: `io`, and `invalid` beyond `limit_bytes`, however long the file says that it is.
Result<std::string> read_all(int fd, std::string_view name, std::size_t limit_bytes);

/// `size_bytes` from `offset_bytes` on, fewer where the file ends; `name` is for messages. Errors: `io`.
Result<std::string> read_range(int fd, std::string_view name, std::uint32_t offset_bytes, std::uint32_t size_bytes);

/// open_regular() and read_all() in one. Errors: of both.
Result<std::string> read_regular(const RootDir& root, std::string_view path, std::size_t limit_bytes, int flags = 0);
Result<std::string> read_regular(const std::string& path, std::size_t limit_bytes, int flags = 0);

/// Writes the content under a temporary name beside `path` and renames it over `path`: who reads sees the former file
/// or the new one. A link of that name is replaced, not followed. The folder has to be there. Nothing is left behind by
/// an error; the file is not synced to the disk. Errors: those of system_error(), with the path.
Status write_whole(const std::string& path, std::string_view content, mode_t mode = 0644);

}  // namespace slipway
