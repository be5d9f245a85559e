// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/items.hpp - compares a component's plan with the host and with what is recorded of the component.
#pragma once

#include <map>
#include <string>

#include "core/engine/packages/sources.hpp"
#include "core/engine/plan/planner.hpp"

namespace slipway::core {

/// Fills the items of a component that has its plan: removals of what it owns and no longer plans, then the actions of
/// the plan, each with how the host differs. Errors: `conflict`, `plugin_defect`; those of the checks.
/// @param owned  what is recorded of it; null: nothing
Status fill_items(Session& session, PlannedComponent& planned, const Ownership* owned,
                  const std::map<std::string, NamedSource>& sources, const PlannedRun& run, const PlanOptions& options);

}  // namespace slipway::core
