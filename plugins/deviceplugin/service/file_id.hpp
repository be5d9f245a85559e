// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/file_id.hpp - tells whether a file is still the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slipway::deviceplugin {

/// A file that another one has replaced is another file, also under the same name.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed = 0;  ///< ctime in ns: inode numbers are used again
  bool operator==(const FileId&) const = default;
};

/// Empty when nothing is there.
std::optional<FileId> file_id(const std::string& path);

}  // namespace slipway::deviceplugin
