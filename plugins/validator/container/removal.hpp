// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/removal.hpp - removes everything that an engine created for a check. The check's folder
// is removed last, and only when the rest is certainly gone: it is the only record of the rest.
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
/// @param with_container  the container's start failed, so that the container may exist too
void remove_check(const Runner& runner, const Scratch& scratch, const Removals& removals, bool with_container);

/// Cleans up after some killed checks, each with the engine that it used. Remains that cannot be removed now stay for
/// the next verify, with their folder.
void remove_abandoned(const Runner& runner);

}  // namespace slipway::validator
