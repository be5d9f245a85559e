// SPDX-License-Identifier: Apache-2.0
// base/write/new_file.hpp - writes files: under a temporary name until they are complete, with their
// extended attributes, or in place of another file, so that no reader sees a partial file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::base {

/// The suffix of a file's name until the file is complete.
inline constexpr const char* kNewSuffix = ".slipway-new";

/// Extended attributes by name.
using Attributes = std::map<std::string, std::string>;

struct NewFile {
  unsigned mode = 0644;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t mtime_ns = 0;
  Attributes attributes;

  /// Returns the attributes of a file of this process, with the present time.
  static NewFile ours(unsigned mode);
};

/// Creates the file `name` in the folder `parent`, and removes an older one of that name; `fill` writes the content.
/// Sets mode, owner, attributes and mtime independent of the umask. Leaves no file behind when it fails.
/// @param path  as users know it, for messages
Status write_new_file(int parent, const std::string& name, std::string_view path, const NewFile& wanted,
                      const std::function<Status(int fd)>& fill);

/// write_new_file() under the name `fresh`, which is then renamed to `name`: readers see the complete former file or
/// the complete new one. Replaces a link of that name, and does not follow it. Errors: `conflict` when the file is a
/// mount point; else those of writing.
/// @param fresh  `name` with kNewSuffix when there is one writer at a time, since the next write then removes the
///               remains of a killed one; unique_name() of it when there may be several
Status write_and_rename(int parent, const std::string& fresh, const std::string& name, std::string_view path,
                        const NewFile& wanted, const std::function<Status(int fd)>& fill);

/// Returns `BEGINNING-…`, an unpredictable name.
std::string unique_name(const std::string& beginning);

/// Sets the owner of an existing file (of a link itself, not of its target); does nothing when it is already correct.
Status set_owner(int parent, const std::string& name, std::string_view path, std::uint32_t uid, std::uint32_t gid);
/// Sets the mtime in nanoseconds since 1970; of a link itself, not of its target.
Status set_mtime(int parent, const std::string& name, std::string_view path, std::int64_t mtime_ns);

/// Errors: `no_space`, `io`.
Status write_all(int fd, std::string_view bytes, std::string_view name);
inline Status write_all(int fd, std::span<const std::byte> bytes, std::string_view name) {
  return write_all(fd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}
/// The same, and syncs it to the disk.
Status write_synced(int fd, std::string_view bytes, std::string_view name);

/// Returns the attributes of `name` in the folder `parent`; does not follow a link. Empty when the filesystem has none.
/// Leaves out those that are only valid for the content they were made for (security.capability, security.ima,
/// security.evm) and those that overlayfs uses itself.
Attributes read_attributes(int parent, const std::string& name);
/// Sets the attributes on an open file, also an O_PATH one, and removes an inherited ACL that is not among them. Skips
/// attributes that the filesystem or this process's rights do not allow: the content is more important. Errors:
/// `no_space`, `io`.
Status write_attributes(int fd, std::string_view path, const Attributes& wanted);

/// Replaces the content of the file at `path`, following all links: readers see the complete former file or the
/// complete new one. Keeps owner, mode and extended attributes; creates a missing file, mode 0644 and owned by this
/// process, with its folders (0755). It is on the disk on return.
/// Errors: `conflict` the path is not a regular file, or is a mount point; else those of writing.
Status replace_file(const RootDir& root, const std::string& path, std::string_view content);

/// Writes a file at a path of this process, whose folder exists, with write_and_rename(); several processes may do
/// this.
/// @param synced  true: it is on the disk on return
Status put_file(const std::string& path, std::string_view content, const NewFile& wanted = NewFile::ours(0644),
                bool synced = true);

/// Returns the folder part of a path; "." when it is only a name.
std::string folder_of(const std::string& path);

}  // namespace slipway::base
