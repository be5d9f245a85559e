// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/items.hpp - compares a component's plan with the host and with the component's record.
#pragma once

#include <map>
#include <string>

#include "core/engine/packages/sources.hpp"
#include "core/engine/plan/planner.hpp"

namespace slipway::core {

/// Fills the items of a planned component: first removals of things that it owns and no longer plans, then the plan's
/// actions, each with its difference from the host. Errors: `conflict`, `plugin_defect`; those of the checks.
/// @param owned  the component's record; null: none
Status fill_items(Session& session, PlannedComponent& planned, const Ownership* owned,
                  const std::map<std::string, NamedSource>& sources, const PlannedRun& run, const PlanOptions& options);

}  // namespace slipway::core
