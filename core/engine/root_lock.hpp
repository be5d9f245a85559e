// SPDX-License-Identifier: Apache-2.0
// core/engine/root_lock.hpp - one apply per root: a lock that ends with its process and that no other user can take.
#pragma once

#include <optional>
#include <string>

#include <slipway/root_dir.hpp>

#include "base/write/lock_file.hpp"

namespace slipway::core {

/// A file in /run/slipway/lock, named after the root folder's device and inode: two paths to a root share one lock. For
/// a live root it is in the root's own /run, so that a container with the host mounted and the host itself see the same
/// lock.
///
/// Where no such file is possible, the lock is on the root folder itself: for ordinary users, on a read-only /run, and
/// for an image that is "/", in which no file may be left. Two processes with locks of different kinds meet at the
/// journal, which only one process can open.
///
/// The state folder, which no other user may open, is locked as well where it exists: two containers with the same root
/// each have their own /run.
class RootLock {
 public:
  /// Errors: `locked`, naming the process that holds it; `conflict` other users may write to /run/slipway/lock.
  static Result<RootLock> take(const std::string& root, bool live);
  /// Notes the current work, for status and for processes that wait.
  void note(const std::string& line) const;
  /// Returns the other process that holds the lock, "slipway-engine (pid 12)"; empty if not found or it is
  /// unknown.
  static std::string other_holder(const std::string& root, bool live);
  /// The same with the process's note, when this user may read it: "slipway-engine (pid 12), under way since 21:05:07
  /// UTC; driver: download x  1.0 of 2.0 MiB".
  static std::string other_at_work(const std::string& root, bool live);

 private:
  RootLock() = default;
  std::optional<base::LockFile> file_;
  Fd folder_;
  Fd state_;
};

}  // namespace slipway::core
