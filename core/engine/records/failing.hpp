// SPDX-License-Identifier: Apache-2.0
// core/engine/records/failing.hpp - components that did not work when they were last applied: an apply that has nothing
// to change checks these again, and status, plan and verify tell of them.
#pragma once

#include <set>
#include <string>

#include <slipway/findings.hpp>

#include "core/engine/model/planned.hpp"

namespace slipway::core {

/// The component did not end well: what it should do is not done, or is not known to work.
bool is_unsettled(const PlannedComponent& component);

/// What is remembered of a component that ended in such a state: {"state", "reason"?, "error"?, "unreachable"?,
/// "do"?, "blocked_by"?, "findings"?}: the error, with what to do about it, may be of a registry that did not answer,
/// and findings are those that failed. Nothing in it depends on the time.
Json failing_record(const PlannedComponent& component, const Findings* findings);

/// Why, in a sentence: "acme.modules: the module acme is not there", or the reason or error that is remembered.
std::string failing_text(const Json& record);

/// The option that a command needs to repeat what failed: " -f FILE" of the apply that was given a spec file
/// ("spec_file" of the record); else empty.
std::string failing_spec(const Json& record);

/// The names of the findings that failed, "driver.modules, driver.nodes".
std::string failed_names(const Findings& findings);

/// What is to be remembered after a run.
/// @param before    what was remembered so far, by component
/// @param findings  of the components that this run has verified
Json failing_after(const Json& before, const PlannedRun& run, const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
