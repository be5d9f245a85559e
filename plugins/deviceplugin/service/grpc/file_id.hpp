// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/file_id.hpp - tells whether a file is still the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {

/// The identity of a file: a replaced file has another one, even under the same name.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// Creation time in ns, because inode numbers are reused; if the file system has none, the time of the last attribute
  /// change.
  std::int64_t made_ns = 0;
  bool operator==(const FileId&) const = default;
};

/// Empty when the file does not exist. Links are followed inside the root.
std::optional<FileId> file_id(const RootDir& root, const std::string& path);
/// Reads the id of a name in a folder; links are not followed.
std::optional<FileId> file_id_at(int folder, const std::string& name);

}  // namespace slipway::deviceplugin
