// SPDX-License-Identifier: Apache-2.0
// core/engine/apply/apply_run.hpp - the state of a running apply, and its parts, one file each.
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
  Json failing = Json::object();  ///< failures that remained after earlier applies
  bool cut_off = false;           ///< an earlier apply may have ended before it verified
  Recording recording = {};       ///< the state applied before; going_back: components that now fail
};

/// Runs everything except going back.
Status run_apply(ApplyRun& apply, const HostSpec& spec);

// change.cpp: changes one component.

/// Downloads all layers that the component will unpack.
Status fetch_layers(Session& session, const PlannedComponent& component);
/// Makes a component wait for its source when the source does not answer and the apply waits for sources.
void await_source(const ApplyRun& apply, PlannedComponent& component);
void change_component(ApplyRun& apply, PlannedComponent& component);
void block_boot_without_work(PlannedComponent& component);

// verification.cpp: checks that the changes are stable and work.

/// Plans a changed component again, and verifies it.
void look_again(ApplyRun& apply, PlannedComponent& component);
/// Verifies the components that failed after an earlier apply; all components after an apply that ended before
/// verifying.
void look_at_failing(ApplyRun& apply);
Status remember_failing(const ApplyRun& apply);
/// Verifies the component, for up to ten seconds until it passes.
void look_until_settled(ApplyRun& apply, PlannedComponent& component);
/// True when its files are in place and only verify() failed. The generation becomes active all the same.
bool has_only_findings(const PlannedComponent& component);

// going_back.cpp: returns failing components to their previous state.

void find_components_to_restore(ApplyRun& apply);
/// Returns the components to their state in the active generation, and reports it. The record of their failure stays.
/// @param target  the number of that generation, when the returned components alone make the root equal to it; else 0
Status go_back(ApplyRun& apply, int target = 0);

// boot_proof.cpp: the boot after a change of packages.

/// At a boot, returns components that do not work with their changed packages to the generation before that change.
/// Gives up each change only once: if the same change is applied again, it stays, and this is reported.
Status go_back_at_boot(ApplyRun& apply);

// closing.cpp: the work after the components.

/// Runs triggers, verifies, looks for unstable changes, records the generation and ends the journal.
void complete_apply(ApplyRun& apply);

}  // namespace slipway::core
