// SPDX-License-Identifier: Apache-2.0
// core/engine/plan/planner.hpp - detect and plan: from a spec to what has to change. Changes nothing.
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
  std::vector<std::string> only;  ///< components to look at; empty: all
  Lock lock;                      ///< what is pinned so far
  bool locked = false;            ///< --locked: what the lock does not pin is an error
  bool keeps_others = false;      ///< what is installed and not in the spec stays
  bool needs_slipway = false;     ///< units for an image in which slipway is not installed are an error
  std::optional<std::vector<std::string>> replace_edits = {};  ///< paths of kept edits; empty: all of them
  std::optional<Generation> back_to = {};  ///< of a rollback: what was accepted, and edited, there counts again
};

/// Plans a whole spec. Problems of one component stand in its `error`; the Result's Error is for what stops all: the
/// graph, unknown names in `only`, unreadable state.
/// @param journal  the root's journal where it is open already (an apply that recovers); else it is looked at
Result<PlannedRun> plan_run(Session& session, HostSpec spec, const PlanOptions& options, Journal* journal = nullptr);

/// Errors: `usage` for a name that is neither in the spec nor owned.
Status check_names(const std::vector<std::string>& names, const HostSpec& spec,
                   const std::map<std::string, Ownership>& owned);

/// Detects and plans one component again, with the outputs that `run` has by now.
PlannedComponent plan_component(Session& session, const PlannedRun& run, const std::string& name,
                                const Ownership* owned, const PlanOptions& options, Lock& lock);

/// A component comes after or requires another, by name or capability.
bool comes_after(const Session& session, const std::string& component, const std::string& other);

/// The context in which actions of a component are checked and done. Borrowed parts must outlive it.
ActionContext make_context(Session& session, const std::string& component, LayerStager& layers, const Json& record,
                           const Image& original = {});

/// Only facts of components, for `slipway detect`.
/// @param hardware  what to think of devices that are not shown, as Host::hardware() has it; empty: what the spec says
Result<Facts> detect_component(Session& session, const std::string& name, const Json& section,
                               const std::string& hardware = {});

}  // namespace slipway::core
