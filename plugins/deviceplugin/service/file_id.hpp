// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/file_id.hpp - tells whether a file is still the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/stat.h>

namespace slipway::deviceplugin {

/// A file that another one has replaced is another file, also under the same name.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed = 0;  ///< ctime in ns: inode numbers are used again
  bool operator==(const FileId&) const = default;
};

/// Empty when nothing is there.
inline std::optional<FileId> file_id(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t kNano = 1'000'000'000;
  return FileId{status.st_dev, status.st_ino, status.st_ctim.tv_sec * kNano + status.st_ctim.tv_nsec};
}

}  // namespace slipway::deviceplugin
