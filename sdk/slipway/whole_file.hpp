// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/whole_file.hpp - a file that others read while a service writes it anew.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include <slipway/result.hpp>

namespace slipway {

/// Writes the content under a temporary name beside `path` and renames it over `path`: who reads sees the former file
/// or the new one. A link of that name is replaced, not followed. The folder has to be there. Nothing is left behind by
/// an error; the file is not synced to the disk. Errors: those of system_error(), with the path.
Status write_whole(const std::string& path, std::string_view content, mode_t mode = 0644);

}  // namespace slipway
