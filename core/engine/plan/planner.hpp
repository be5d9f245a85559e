// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/planner.hpp - detect and plan: from a spec to the list of changes. Changes nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/graph/graph.hpp"
#include "core/journal/journal.hpp"

namespace slipway::core {

struct PlanOptions {
  std::vector<std::string> only;  ///< components to plan; empty: all
  Lock lock;                      ///< packages pinned so far
  bool locked = false;            ///< --locked: a package that the lock does not pin is an error
  bool keeps_others = false;      ///< installed components that are not in the spec stay
  bool needs_slipway = false;     ///< fails when an image gets units but has no slipway installed
  std::optional<std::vector<std::string>> replace_edits = {};  ///< paths of kept edits; empty: all of them
  std::optional<Generation> back_to = {};  ///< the target of a rollback: its accepted and replaced edits count
};

/// Plans a whole spec. A component's problems are in its `error`; the Result's Error stops the whole plan: the graph,
/// unknown names in `only`, unreadable state.
/// @param journal  the root's journal when it is already open (an apply that recovers); else the journal is only read
Result<PlannedRun> plan_run(Session& session, HostSpec spec, const PlanOptions& options, Journal* journal = nullptr);

/// Errors: `usage` for a name that is neither in the spec nor installed.
Status check_names(const std::vector<std::string>& names, const HostSpec& spec,
                   const std::map<std::string, Ownership>& owned);

/// Detects and plans one component again, with the outputs that `run` has now.
PlannedComponent plan_component(Session& session, const PlannedRun& run, const std::string& name,
                                const Ownership* owned, const PlanOptions& options, Lock& lock);

/// True when a component comes after or requires another, by name or capability.
bool comes_after(const Session& session, const std::string& component, const std::string& other);

/// Returns the context for checking and performing a component's actions. Borrowed parts must outlive it.
ActionContext make_context(Session& session, const std::string& component, LayerStager& layers, const Json& record,
                           const Image& original = {});

/// Returns the facts of one component, for `slipway detect`.
/// @param hardware  how to treat devices that are not visible, as Host::hardware() has it; empty: as the spec says
Result<Facts> detect_component(Session& session, const std::string& name, const Json& section,
                               const std::string& hardware = {});

}  // namespace slipway::core
