// SPDX-License-Identifier: Apache-2.0
// plugins/validator/container/removal.hpp - removes what a check had an engine make. The check's folder goes last, and
// only when the rest is known to be gone: without it nobody would look for the rest any more.
#pragma once

#include <optional>
#include <vector>

#include "validator/container/scratch.hpp"

namespace slipway::validator {

/// Commands that remove what a check has an engine make.
struct Removals {
  std::vector<Words> container;   ///< of one whose start did not end well
  std::vector<Words> afterwards;  ///< always
  Words shared;                   ///< what other checks may use too, so that it goes with the last one; empty: nothing
};

/// How the engine of that name removes what a check left that was killed. Nothing: it does not run now, or may not be
/// asked.
std::optional<Removals> removals_of(const Host& host, const Place& place);
std::optional<Removals> removals_of_podman(const Host& host, const Place& place);
std::optional<Removals> removals_of_docker(const Host& host, const Place& place);
std::optional<Removals> removals_of_containerd(const Host& host, const Place& place);

/// Removes what the engine has of it, and then the folder.
/// @param with_container  its start did not end well, so that the container may be there as well
void remove_check(const Runner& runner, const Scratch& scratch, const Removals& removals, bool with_container);

/// Of some checks that were killed, each by the engine that it used. What of them cannot be removed now stays for the
/// next verify, with its folder.
void remove_abandoned(const Runner& runner);

}  // namespace slipway::validator
