// SPDX-License-Identifier: Apache-2.0
// core/engine/records/failing_components.hpp - components that failed in their last apply: an apply without changes
// checks them again, and status, plan and verify report them.
#pragma once

#include <set>
#include <string>

#include <slipway/findings.hpp>

#include "core/engine/model/planned.hpp"

namespace slipway::core {

/// True when the component did not end well: its work is incomplete, or is not known to be correct.
bool is_unsettled(const PlannedComponent& component);

/// Returns the record of a component that failed: {"state", "reason"?, "error"?, "unreachable"?, "do"?, "blocked_by"?,
/// "findings"?}. The error and its remedy may be about a registry that did not answer; "findings" has the failed ones.
/// Nothing in the record depends on the time.
Json failing_record(const PlannedComponent& component, const Findings* findings);

/// Returns the reason in a sentence: "acme.modules: the module acme is missing", or the recorded reason or error.
std::string failing_text(const Json& record);

/// Returns the option that a command needs to repeat the failed apply: " -f FILE" when that apply was given a spec file
/// ("spec_file" of the record); else empty.
std::string failing_spec(const Json& record);

/// The names of the findings that failed, "driver.modules, driver.nodes".
std::string failed_names(const Findings& findings);

/// Returns the failure records after a run.
/// @param before    the records so far, by component
/// @param findings  of the components that this run verified
Json failing_after(const Json& before, const PlannedRun& run, const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
