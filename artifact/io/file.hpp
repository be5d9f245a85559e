// SPDX-License-Identifier: Apache-2.0
// artifact/io/file.hpp - files and trees: made, made durable, removed.
#pragma once

#include <string>

#include <slipway/regular_file.hpp>
#include <slipway/write/new_file.hpp>

namespace slipway::artifact {

/// Makes a file for writing (mode 0644 under the umask). Errors: as the system says, also when something has the name,
/// be it a link.
Result<Fd> create_file(const std::string& path);

/// Makes the last rename inside `directory` durable.
Status sync_directory(const std::string& directory);

/// Makes a folder and those above it (mode 0755).
Status make_directories(const std::string& path);

/// Removes a tree without following links; nothing there is success.
Status remove_tree(const std::string& path);

}  // namespace slipway::artifact
