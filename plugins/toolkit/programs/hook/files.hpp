// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/files.hpp - reading and writing inside a root that may try to mislead.
#pragma once

#include <string>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::hook {

/// All bytes of a descriptor. Errors: `invalid` when there are more than `limit`; of read(2).
Result<std::string> read_all(int fd, std::size_t limit, const std::string& name);

/// A regular file inside, never waiting on a FIFO or device of that name. Errors: `not_found`; `invalid` when it is
/// something else, or too large.
Result<Fd> open_regular(const RootDir& root, const std::string& path);

/// Makes a folder and those above it inside, 0755. One that is there is kept.
Status make_folders(const RootDir& root, const std::string& path);

/// Writes a file under a new name and renames it over `path`: whoever reads sees the old or the new one, and a link or
/// FIFO of that name is replaced, not followed.
Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode);

/// "/proc/self/fd/N": the one way to name an open file to calls that take a path.
std::string path_of(int fd);

}  // namespace slipway::hook
