// SPDX-License-Identifier: Apache-2.0
// core/engine/root_lock.hpp - one apply per root: a lock that dies with its holder and that no other user can take.
#pragma once

#include <optional>
#include <string>

#include <slipway/root_dir.hpp>

#include "base/write/lock_file.hpp"

namespace slipway::core {

/// A file in /run/slipway/lock, named after the root folder's device and inode: two paths to a root are one. A live
/// root's own /run counts, so that a container with the host mounted and the host itself see the same lock.
///
/// The root folder itself is locked where no such file can be: for ordinary users, on a read-only /run, and for an
/// image that is "/", in which nothing may be left behind. Two of different kinds end at the journal, which one alone
/// can open.
///
/// The state folder, which nobody else may open, is locked as well where there is one: two containers with one root
/// have a /run each.
class RootLock {
 public:
  /// Errors: `locked`, naming the process that holds it; `conflict` others may write to /run/slipway/lock.
  static Result<RootLock> take(const std::string& root, bool live);
  /// What is being done, for status and others who wait.
  void note(const std::string& line) const;
  /// "slipway-engine (pid 12)", another process that holds it now; empty: none, or it cannot be told.
  static std::string other_holder(const std::string& root, bool live);
  /// The same with what it notes, where this user may read that: "slipway-engine (pid 12), under way since 21:05:07
  /// UTC; driver: download x  1.0 of 2.0 MiB".
  static std::string other_at_work(const std::string& root, bool live);

 private:
  RootLock() = default;
  std::optional<LockFile> file_;
  Fd folder_;
  Fd state_;
};

}  // namespace slipway::core
