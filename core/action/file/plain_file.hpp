// SPDX-License-Identifier: Apache-2.0
// core/action/file/plain_file.hpp - a regular file with a wanted content, mode and owner: judged, and put in place.
//
// Shared by the kinds that write whole files (file, systemd-unit) or rewrite them (merge).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "core/action/action_kind.hpp"

namespace slipway::core {

/// What a path is and, for a regular file, what is in it.
struct PathState {
  bool absent = true;
  FileInfo info;        ///< when it is not absent
  std::string content;  ///< of a regular file, when it was asked for; of a link what it points to

  bool is(FileInfo::Type type) const { return !absent && info.type == type; }
};

/// Errors: `denied`, `io`; absence is not an error.
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

/// Judges a path against its desired state. `record` is the fingerprint of when slipway wrote it last, null when it
/// never did.
Check judge(const PlainFile& desired, const PathState& now, const Json& record);

/// A diff for people; empty when either text may not be read by everybody, so may hold a secret.
std::string diff_for_people(const std::string& path, const PathState& now, const std::string& content, unsigned mode);

/// "0644"
std::string octal(unsigned mode);

/// Something that is neither absent nor what the kind makes: what is there and what to do.
Error in_the_way(const std::string& path, FileInfo::Type type, const std::string& wanted);

/// A file that something is mounted on.
Error mounted(const std::string& path);

struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool operator==(const Owner&) const = default;
};

/// Names or numbers, looked up in the root's own /etc/passwd and /etc/group; "root" is 0 even where these are missing.
/// Without the right to give files away (not run as root) everything belongs to whoever runs slipway, as with tar, on a
/// root of their own; somebody else's root is looked at as its owner would.
/// Errors: `not_found`, naming the user or group.
Result<Owner> find_owner(const Host& host, const std::string& user, const std::string& group);

}  // namespace slipway::core
