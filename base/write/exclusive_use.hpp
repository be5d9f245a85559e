// SPDX-License-Identifier: Apache-2.0
// base/write/exclusive_use.hpp - what a change of devices needs for itself alone: locks that the core, the
// tools and the services share, and services that are quiet.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/unix_socket.hpp>

#include "base/write/lock_file.hpp"

namespace slipway {

/// Holds what the actions taken so far need, until end() or the end of the process. For one thread.
class ExclusiveUse {
 public:
  static bool is_needed_for(const Action& action);
  /// Takes the members `exclusives` and `quiesces_services` of a custom action, as far as they are not held already:
  /// each exclusive as a lock /run/slipway/lock/NAME.lock, in sorted order. It waits for no lock.
  /// @return done; or waiting, with the holder named, and nothing new is held then
  /// Errors: `plugin_defect` a name that is none; `denied` for a user who may not ask a service; those of LockFile.
  Result<Outcome> take(const Host& host, const Action& action);
  /// Releases everything; the services resume.
  void end();

  /// Ends it where a block is left.
  class Scope {
   public:
    explicit Scope(ExclusiveUse& use) : use_(use) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { use_.end(); }

   private:
    ExclusiveUse& use_;
  };

 private:
  std::map<std::string, LockFile> locks_;
  std::optional<QuiescedServices> services_;
};

}  // namespace slipway
