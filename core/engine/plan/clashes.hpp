// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/clashes.hpp - two components that want the same thing, or one that wants what another holds.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/engine/plan/planned.hpp"

namespace slipway::core {

/// Fails each component of the run that claims what one before it claims, or what a component holds of which no plan is
/// known: one that the run does not look at (`--only`), or that failed.
/// @param owned  what was applied before
void find_clashes(PlannedRun& run, const std::map<std::string, Ownership>& owned);

/// The same for a component that was planned at its turn: against all others of the run.
std::optional<Error> clash_of(const PlannedComponent& planned, const PlannedRun& run,
                              const std::map<std::string, Ownership>& owned);

}  // namespace slipway::core
