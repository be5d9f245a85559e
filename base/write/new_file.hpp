// SPDX-License-Identifier: Apache-2.0
// base/write/new_file.hpp - writes files: under a temporary name until they are complete, with their
// extended attributes, or in the place of another, so that nobody sees half of one.
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

namespace slipway {

/// What the name of a file ends in until the file is complete.
inline constexpr const char* kNewSuffix = ".slipway-new";

/// Extended attributes by name.
using Attributes = std::map<std::string, std::string>;

struct NewFile {
  unsigned mode = 0644;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t mtime_ns = 0;
  Attributes attributes;

  /// Written by this process, and now.
  static NewFile ours(unsigned mode);
};

/// Makes the file `name` in the folder `parent`, an older one of that name going; `fill` writes the content.
/// Mode, owner, attributes and mtime are set whatever the umask. Nothing is left behind when it fails.
/// @param path  as users know it, for messages
Status write_new_file(int parent, const std::string& name, std::string_view path, const NewFile& wanted,
                      const std::function<Status(int fd)>& fill);

/// write_new_file() under the name `fresh`, which then becomes `name`: readers see the former file or the new one,
/// whole. A link of that name is replaced, not followed. Errors: `conflict` when something is mounted on it; else those
/// of writing.
/// @param fresh  `name` with kNewSuffix where there is one writer at a time, since what a killed one left goes with the
///               next; unique_name() of it where there may be several
Status exchange_file(int parent, const std::string& fresh, const std::string& name, std::string_view path,
                     const NewFile& wanted, const std::function<Status(int fd)>& fill);

/// `BEGINNING-…`, a name that nobody can foresee.
std::string unique_name(const std::string& beginning);

/// Owner of something already made (a link itself, not what it points to); left alone when it is right already.
Status set_owner(int parent, const std::string& name, std::string_view path, std::uint32_t uid, std::uint32_t gid);
/// The mtime in nanoseconds since 1970; a link itself, not what it points to.
Status set_mtime(int parent, const std::string& name, std::string_view path, std::int64_t mtime_ns);

/// Errors: `no_space`, `io`.
Status write_all(int fd, std::string_view bytes, std::string_view name);
inline Status write_all(int fd, std::span<const std::byte> bytes, std::string_view name) {
  return write_all(fd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
}
/// The same, and on the disk when this returns.
Status write_synced(int fd, std::string_view bytes, std::string_view name);

/// Those of `name` in the folder `parent`; a link is not followed. Empty where the filesystem has none. Left out is
/// what only fits the very content it was made for (security.capability, security.ima, security.evm) and what
/// overlayfs keeps for itself.
Attributes read_attributes(int parent, const std::string& name);
/// Sets them on what is open, O_PATH will do, and takes an inherited ACL away that is not among them. An attribute that
/// the filesystem or our rights do not allow is left out: content comes first. Errors: `no_space`, `io`.
Status write_attributes(int fd, std::string_view path, const Attributes& wanted);

/// Gives the file behind `path`, all links followed, a new content: readers see the former or the new one, whole.
/// Owner, mode and extended attributes stay; a file that was not there is made, 0644 and ours, with its folders (0755).
/// On the disk when this returns.
/// Errors: `conflict` what is there is no regular file, or something is mounted on it; else those of writing.
Status replace_file(const RootDir& root, const std::string& path, std::string_view content);

/// Puts a file at a path of this process, whose folder is there, by exchange_file(); several processes may do so.
/// @param synced  whether it is on the disk when this returns
Status put_file(const std::string& path, std::string_view content, const NewFile& wanted = NewFile::ours(0644),
                bool synced = true);

/// The folder part of a path; "." when it is a name alone.
std::string folder_of(const std::string& path);

}  // namespace slipway
