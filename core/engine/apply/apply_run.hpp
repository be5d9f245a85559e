// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/apply_run.hpp - one apply under way, and its parts, a file for each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/engine/apply/apply.hpp"
#include "core/engine/records/generations.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

struct ApplyRun {
  Session& session;
  const ApplyOptions& options;
  ApplyResult& result;
  std::unique_ptr<Journal> journal = {};
  Json failing = Json::object();  ///< what did not work after earlier applies
  bool cut_off = false;           ///< an earlier apply may not have come to verify
  Recording recording = {};       ///< what is applied before it; going_back: what worked and does not now
};

/// All of it, but for what goes back.
Status run_apply(ApplyRun& apply, const HostSpec& spec);

// change.cpp: the turn of one component.

/// Downloads everything that it will unpack.
Status fetch_layers(Session& session, const PlannedComponent& component);
/// A component whose source does not answer waits for it, where the apply does.
void await_source(const ApplyRun& apply, PlannedComponent& component);
void change_component(ApplyRun& apply, PlannedComponent& component);
void leave_to_no_boot(PlannedComponent& component);

// look.cpp: whether what was changed is stable and works.

/// Plans a component that was changed anew, and verifies it.
void look_again(ApplyRun& apply, PlannedComponent& component);
/// Verifies those that did not work after an earlier apply, and all after one that was cut off before it came to that.
void look_at_failing(ApplyRun& apply);
Status remember_failing(const ApplyRun& apply);
/// Its files are in place; only verify() is not content. The generation is in force all the same.
bool has_only_findings(const PlannedComponent& component);

// going_back.cpp: what does not work goes back to what it was.

void find_what_goes_back(ApplyRun& apply);
/// Brings the components back to what the generation in force has, and says so. That they failed stays remembered.
Status go_back(ApplyRun& apply);

// closing.cpp: what comes after the components.

/// Triggers, verify, the second look, the generation, the end of the journal.
void settle_accounts(ApplyRun& apply);

}  // namespace slipway::core
