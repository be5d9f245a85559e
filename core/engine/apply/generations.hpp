// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/generations.hpp - records what was applied, so that it can be applied anew.
#pragma once

#include "core/engine/plan/planned.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// The run amounts to another (spec, lock, plugins, kernel) than the generation in force.
bool generation_is_new(Session& session, const PlannedRun& run);

/// Writes the run as the generation in force, unless it already is. A run without components leaves none.
/// @return its number, 0 when there is none
Result<int> record_generation(Session& session, const PlannedRun& run);

}  // namespace slipway::core
