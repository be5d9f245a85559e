// SPDX-License-Identifier: Apache-2.0
// base/write/exclusive_use.hpp - exclusive use of devices for a change: locks shared by the core, the
// tools and the services, and quiesced services.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/unix_socket.hpp>

#include "base/write/lock_file.hpp"

namespace slipway::base {

/// Holds the locks and quiesced services of the actions so far, until end() or the end of the process. For one thread.
class ExclusiveUse {
 public:
  static bool is_needed_for(const Action& action);
  /// Takes the members `exclusives` and `quiesces_services` of a custom action, unless already held: each exclusive as
  /// a lock /run/slipway/lock/NAME.lock, in sorted order. Does not wait for a lock.
  /// @return done; or waiting, naming the holder; nothing new is held then
  /// Errors: `plugin_defect` an invalid name; `denied` for a user without access to a service; those of LockFile.
  Result<Outcome> take(const Host& host, const Action& action);
  /// Releases everything; the services resume.
  void end();

  /// Calls end() when a block is left.
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

}  // namespace slipway::base
