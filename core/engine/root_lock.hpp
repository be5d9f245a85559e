// SPDX-License-Identifier: Apache-2.0
// core/engine/root_lock.hpp - one apply per root: a lock on the root folder itself that dies with its holder.
#pragma once

#include <string>

#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Holds flock(2) on the root folder; nothing is left behind in it.
class RootLock {
 public:
  /// Errors: `busy`, naming the process that holds it.
  static Result<RootLock> take(const std::string& root);
  /// "slipway-engine (pid 12)", another process that holds it now; empty: none, or it cannot be told.
  static std::string other_holder(const std::string& root);

 private:
  explicit RootLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace slipway::core
