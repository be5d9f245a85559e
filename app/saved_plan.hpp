// SPDX-License-Identifier: Apache-2.0
// app/saved_plan.hpp - whether a host still calls for exactly what a saved plan says.
#pragma once

#include <optional>
#include <string>

#include <slipway/json.hpp>

#include "core/engine/model/planned.hpp"

namespace slipway::core {

/// The canonical value that two plans are compared by: components, actions, standings, edits, triggers.
Json plan_identity(const PlannedRun& run);

/// @param saved  plan_identity() of a saved plan; nothing: there is none. Errors: `conflict` the run would do anything
/// else; its details say what is different, a dozen at most.
Status check_saved_plan(const std::optional<Json>& saved, const PlannedRun& run);

/// A member of a value that others wrote: null where the value is not an object or has none of that name.
Json member(const Json& value, const std::string& name);

}  // namespace slipway::core
