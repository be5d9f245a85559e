// SPDX-License-Identifier: Apache-2.0
// app/saved_plan.hpp - checks that a host still needs exactly the changes of a saved plan.
#pragma once

#include <optional>
#include <string>

#include <slipway/json.hpp>

#include "core/engine/model/planned.hpp"

namespace slipway::app {

/// Returns the canonical value for comparing plans: components, actions, check results, edits, triggers.
Json plan_identity(const core::PlannedRun& run);

/// @param saved  plan_identity() of a saved plan; nothing without a saved plan. Errors: `conflict` the run would do
/// something
///               else; its details list up to a dozen differences.
Status check_saved_plan(const std::optional<Json>& saved, const core::PlannedRun& run);

/// Returns a member of untrusted JSON: null when the value is not an object or has no such member.
Json member(const Json& value, const std::string& name);

}  // namespace slipway::app
