// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/apply.hpp - applies a plan: downloads, changes each component in turn, runs the pending triggers,
// and verifies.
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
  int target = 0;  ///< the generation that a rollback returns to; 0: this is not a rollback
  std::function<Status(const PlannedRun&)> check = {};  ///< may refuse the plan; empty: every plan is accepted
  bool awaits_sources = false;  ///< waits for an artifact source that does not answer, instead of failing
  bool verify_failing = true;   ///< also verifies unchanged components that failed before
};

struct ApplyResult {
  PlannedRun run;                            ///< with the final states of the components
  std::map<std::string, Findings> findings;  ///< verify() of each component that changed or was failing
  std::vector<std::string> report;           ///< other events: recovery, skipped triggers
  int generation = 0;                        ///< active now
  int before = 0;                            ///< active before; 0: none
  bool changed = false;                      ///< true when anything was changed
  std::optional<Error> error;                ///< the error of the whole apply (a pending trigger that could not be run)
};

/// Applies a spec. Failures of components are in the result's run; an Error means that the apply ended before any
/// change.
Result<ApplyResult> apply_run(Session& session, const HostSpec& spec, const ApplyOptions& options);

}  // namespace slipway::core
