// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/files.hpp - writing inside a root that may try to mislead.
#pragma once

#include <string>

#include <sys/types.h>

#include <slipway/regular_file.hpp>
#include <slipway/write/lock_file.hpp>
#include <slipway/write/new_file.hpp>

namespace slipway::hook {

/// Writes a file under a new name and renames it over `path`: whoever reads sees the old or the new one, and a link or
/// FIFO of that name is replaced, not followed.
Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode);

/// "/proc/self/fd/N": the one way to name an open file to calls that take a path.
std::string path_of(int fd);

}  // namespace slipway::hook
