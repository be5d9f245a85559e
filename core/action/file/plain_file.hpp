// SPDX-License-Identifier: Apache-2.0
// core/action/file/plain_file.hpp - compares a regular file with its desired content, mode and owner, and writes it.
//
// Used by the kinds that write whole files (file, systemd-unit) or rewrite them (merge).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "core/action/action_kind.hpp"

namespace slipway::core {

/// The type of a path and, for a regular file, its content.
struct PathState {
  bool absent = true;
  FileInfo info;        ///< valid unless the path is absent
  std::string content;  ///< of a regular file, when it was requested; of a link its target

  bool is(FileInfo::Type type) const { return !absent && info.type == type; }
};

/// Errors: `denied`, `io`. An absent path is not an error.
Result<PathState> look_at(const Host& host, const std::string& path, bool with_content);

struct PlainFile {
  std::string path;
  std::string content;
  unsigned mode = 0644;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool replace_edits = false;  ///< on_drift: replace
};

/// {"digest", "mode", "uid", "gid"} of a regular file, {"points_to"} of a link; else null.
Json fingerprint_of(const PathState& state);

/// Compares a path with its desired state. `record` is the fingerprint from slipway's last write; null when it never
/// wrote the file.
Check judge(const PlainFile& desired, const PathState& now, const Json& record);

/// A diff to show to users. Empty when not every user may read both texts, because they may contain a secret.
std::string diff_for_people(const std::string& path, const PathState& now, const std::string& content, unsigned mode);

/// "0644"
std::string octal(unsigned mode);

/// Returns the error for a path that is neither absent nor of the desired type. The error names what is there and what
/// to do.
Error in_the_way(const std::string& path, FileInfo::Type type, const std::string& wanted);

/// Returns the error for a file that is a mount point.
Error mounted(const std::string& path);

struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool operator==(const Owner&) const = default;
};

/// Looks names or numbers up in the root's own /etc/passwd and /etc/group; "root" is 0 even where these are missing.
/// Without the right to change owners (not run as root), everything belongs to the calling user, as with tar, when the
/// root is the user's own. A root of another user is compared as its owner would see it.
/// Errors: `not_found`, naming the user or group.
Result<Owner> find_owner(const Host& host, const std::string& user, const std::string& group);

}  // namespace slipway::core
