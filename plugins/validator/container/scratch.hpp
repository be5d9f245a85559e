// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/scratch.hpp - the folder of one check, which becomes its container's root. It is made
// before an engine makes anything and removed after all of that, so that a folder that is left of a process that was
// killed tells the next one what else may be left, and of which engine.
//
// Who uses a folder holds a lock on it, which dies with the process. Another lock is held while a folder is made, and
// while abandoned ones are looked for: between the making of a folder and its lock it would look abandoned.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <slipway/fd.hpp>

#include "validator/container/runner.hpp"

namespace slipway::validator {

/// What one check has of its own.
struct Place {
  std::string engine;  ///< Engine::id
  std::string number;

  /// Not in /run, from where many machines let nothing start.
  std::string folder() const;
  std::string root() const { return folder() + "/root"; }
  std::string archive() const { return folder() + "/root.tar"; }
  /// Of the container, and of its image where the engine needs one.
  std::string name() const { return "slipway-check-" + number; }
};

/// 16 digits of base 16. Processes in different namespaces may have the same number, and /var/lib/slipway in common.
std::string random_number();

/// A folder in use.
class Scratch {
 public:
  /// Makes it. Errors: `conflict` it is there already; `locked` others look at the folders for longer than there is
  /// time; `not_found` no program here could remove it; those of mkdir(2) and flock(2).
  static Result<Scratch> make(const Runner& runner, Place place);
  /// Some of the folders that nobody uses, which ones is left to chance: one that cannot be removed keeps no other from
  /// its turn.
  static std::vector<Scratch> take_abandoned(const Runner& runner, std::size_t most);

  const Place& place() const { return place_; }
  /// Makes the container's root in it, with the program as /probe.
  Status fill(const Host& host, const std::string& probe) const;
  /// Not past other file systems: nothing that is mounted there by mistake is to be emptied.
  void remove(const Runner& runner) const;

 private:
  Scratch(Place place, Fd lock) : place_(std::move(place)), lock_(std::move(lock)) {}

  Place place_;
  Fd lock_;
};

}  // namespace slipway::validator
