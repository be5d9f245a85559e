// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/file_id.hpp - tells whether a file is still the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {

/// A file that another one has replaced is another file, also under the same name.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// When the file was made, in ns, since inode numbers are used again; where the file system does not know, when its
  /// attributes last changed.
  std::int64_t made_ns = 0;
  bool operator==(const FileId&) const = default;
};

/// Empty when nothing is there. Links are followed inside the root.
std::optional<FileId> file_id(const RootDir& root, const std::string& path);
/// Of a name in a folder; no link is followed.
std::optional<FileId> file_id_at(int folder, const std::string& name);

}  // namespace slipway::deviceplugin
