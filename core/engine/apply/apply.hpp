// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/apply.hpp - makes a plan so: fetch, then component by component, then the pending triggers, then
// the check.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/engine/plan/planner.hpp"

namespace slipway::core {

struct ApplyOptions {
  PlanOptions plan;
  int target = 0;                                       ///< the generation that a rollback goes to; 0: it is none
  std::function<Status(const PlannedRun&)> check = {};  ///< may refuse the plan; empty: all are right
  bool awaits_sources = false;  ///< an artifact source that does not answer is waited for, and is no failure
  bool verify_failing = true;   ///< also of what needs no change: did it not work before, does it now?
};

struct ApplyResult {
  PlannedRun run;                            ///< with the states that the components ended in
  std::map<std::string, Findings> findings;  ///< verify() of each component that changed or was failing
  std::vector<std::string> report;           ///< what else happened: recovery, skipped triggers
  int generation = 0;                        ///< in force now
  int before = 0;                            ///< in force before it; 0: none
  bool changed = false;                      ///< anything was done at all
  std::optional<Error> error;                ///< of the apply as a whole (a pending trigger that could not be run)
};

/// Applies a spec. Component failures stand in the run; an Error is for what stops everything before any change.
Result<ApplyResult> apply_run(Session& session, const HostSpec& spec, const ApplyOptions& options);

}  // namespace slipway::core
