// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/scratch.hpp - the folder of one check, which becomes its container's root. It is created
// before an engine creates anything and removed after all of that. So a folder that a killed process leaves tells the
// next process what else may be left, and of which engine.
//
// A process that uses a folder holds a lock on it, which ends with the process. Another lock is held during the
// creation of a folder and the search for abandoned ones: otherwise a new folder without its lock would look abandoned.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <slipway/fd.hpp>

#include "validator/container/runner.hpp"

namespace slipway::validator {

/// The names that belong to one check.
struct Place {
  std::string engine;  ///< Engine::id
  std::string number;

  /// Not in /run, which many machines mount noexec.
  std::string folder() const;
  std::string root() const { return folder() + "/root"; }
  std::string archive() const { return folder() + "/root.tar"; }
  /// Name of the container, and of its image if the engine needs one.
  std::string name() const { return "slipway-check-" + number; }
};

/// Returns 16 hexadecimal digits. Processes in different namespaces may have the same process id and share
/// /var/lib/slipway.
std::string random_number();

/// A check's folder, locked.
class Scratch {
 public:
  /// Creates the folder. Errors: `conflict` it exists already; `locked` other processes hold the folders' lock for too
  /// long; `not_found` no program here could remove it; those of mkdir(2) and flock(2).
  static Result<Scratch> make(const Runner& runner, Place place);
  /// Takes some of the unused folders, chosen at random, so that one that cannot be removed does not block the others.
  static std::vector<Scratch> take_abandoned(const Runner& runner, std::size_t most);

  const Place& place() const { return place_; }
  /// Creates the container's root in it, with the program as /probe.
  Status fill(const Host& host, const std::string& probe) const;
  /// Stays on one file system, so that nothing mounted there by mistake is deleted.
  void remove(const Runner& runner) const;

 private:
  Scratch(Place place, Fd lock) : place_(std::move(place)), lock_(std::move(lock)) {}

  Place place_;
  Fd lock_;
};

}  // namespace slipway::validator
