// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/removal.hpp - removes what a check had an engine make. The check's folder goes last, and
// only when the rest is known to be gone: without it nobody would look for the rest any more.
#pragma once

#include <optional>
#include <vector>

#include "validator/container/scratch.hpp"

namespace slipway::validator {

/// Commands that remove everything that an engine created for a check.
struct Removals {
  std::vector<Words> container;   ///< for a container whose start failed
  std::vector<Words> afterwards;  ///< always
  Words shared;                   ///< shared with other checks, so removed with the last one; empty: nothing
};

/// Returns how the engine of that name removes what a killed check left. Empty: it does not run now, or may not be
/// asked.
std::optional<Removals> removals_of(const Host& host, const Place& place);
std::optional<Removals> removals_of_podman(const Host& host, const Place& place);
std::optional<Removals> removals_of_docker(const Host& host, const Place& place);
std::optional<Removals> removals_of_containerd(const Host& host, const Place& place);

/// Removes the check's objects in the engine, and then the folder.
/// @param with_container  its start failed, so that the container may exist too
void remove_check(const Runner& runner, const Scratch& scratch, const Removals& removals, bool with_container);

/// Cleans up after some killed checks, each with the engine that it used. Remains that cannot be removed now stay for
/// the next verify, with their folder.
void remove_abandoned(const Runner& runner);

}  // namespace slipway::validator
