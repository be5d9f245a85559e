// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/plan_request.hpp - requests a plan from a component's plugin, with as much of the catalogues as it
// needs.
#pragma once

#include <map>
#include <string>

#include "core/engine/packages/sources.hpp"
#include "core/engine/plan/planner.hpp"

namespace slipway::core {

/// The inputs of a plan request besides the facts.
struct PlanRequest {
  Session& session;
  const std::string& name;
  const Json& section;
  const Facts& facts;
  Json outputs;
  const PlanOptions& options;
};

/// @param lock  receives the packages that the plan chose
/// Errors: those of the plugin and of the sources; `conflict` the lock names other packages; `not_found` the lock has
/// too few packages
Result<Plan> ask_for_plan(const PlanRequest& asking, const std::map<std::string, NamedSource>& sources, Lock& lock);

}  // namespace slipway::core
