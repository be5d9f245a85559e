// SPDX-License-Identifier: Apache-2.0
// core/engine/model/planned.hpp - a plan as the core sees it: each action with its standing, and what has to go.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/plan.hpp>

#include "core/action/action_kind.hpp"
#include "core/action/trigger/trigger.hpp"
#include "core/engine/model/component_state.hpp"
#include "core/engine/model/lockfile.hpp"
#include "core/journal/state_dir.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// One action of a plan, or the removal of something that is no longer planned.
struct PlannedItem {
  Action action;
  const ActionKind* kind;  ///< the action's
  bool removal = false;
  Check check;
  Json record;                     ///< what was remembered of it, null when it is new
  Image original;                  ///< null when it is new: it is then captured before the change
  Image former;                    ///< the original as the plan met it, with what this change no longer lists
  Json replaced = Json::object();  ///< Owned::replaced
  std::optional<Edit> replaces;    ///< the edit in whose place this change puts what is planned
  Json kept_record;                ///< then: the record by which it is an edit
  std::string brings_back;         ///< the generation whose replaced edit this change brings back; empty: none

  std::string key() const { return action.kind() + " " + action.target(); }
  bool changes() const { return check.standing == Check::Standing::change; }
};

struct PlannedComponent {
  std::string name;
  ComponentState state = ComponentState::ready;
  Facts facts;
  Plan plan;
  std::vector<PlannedItem> items;         ///< removals first (newest first), then the plan in its order
  std::map<Trigger, Prospect> prospects;  ///< of the triggers that the items will need
  std::string reason;                     ///< why it is not applicable, blocked or deferred
  std::string blocked_by;                 ///< the component that it requires and that failed or is blocked
  std::string follows;             ///< one before it that changes devices: its turn plans it from those; empty: none
  std::optional<Error> error;      ///< when it failed
  Json section;                    ///< its spec
  std::set<std::string> recorded;  ///< keys of actions that stay as they are recorded: it cannot say now
  bool awaits_source = false;      ///< it waits, and nothing of it was done: its artifact source does not answer
  bool lost = false;               ///< see Ownership
  bool leaving = false;            ///< no longer in the spec
  Json accepted = Json::object();  ///< its part of Generation::accepted
  bool restates = false;           ///< what is recorded of a kept edit, or of a removal, is no longer what is asked for
  bool adopts = false;  ///< what was an edit of what is recorded is what is asked for by now: it is taken over

  bool changes() const;
  /// Nothing of it is held yet.
  bool record_is_new() const;
};

void fail(PlannedComponent& component, Error error);

/// What one spec amounts to on one host.
struct PlannedRun {
  HostSpec spec;
  std::string kernel;                        ///< the target release, empty when it could not be told
  std::vector<std::string> order;            ///< all components of the spec, in the graph's order
  std::vector<PlannedComponent> components;  ///< those that leave first, then in the graph's order
  std::vector<std::string> pending;          ///< triggers that an interrupted apply left
  std::vector<Trigger> triggers;             ///< triggers that these changes will need
  std::map<Trigger, Prospect> prospects;     ///< what each of them will come to
  bool partial = false;                      ///< it looks at some components alone (`--only`)
  bool recovery = false;                     ///< a cut-off apply has to be undone first
  Lock lock;                                 ///< what was chosen
  Json handed_on = Json::object();           ///< by component: outputs of those that this run does not look at
  Json recorded = Json::object();            ///< by component: outputs of those that it looks at, as applied last
  Findings warnings;                         ///< about the host as a whole: its GPUs are not what the spec expects
  bool without_records = false;              ///< this user may not read what was applied before
  Json in_force;                   ///< the spec of the generation in force, as written; null when no generation exists
  Json failing = Json::object();   ///< by component: what did not work after an earlier apply
  Json accepted = Json::object();  ///< edits that were accepted so far, as Generation has them

  bool changes() const;
  bool failed() const;
  PlannedComponent* find(const std::string& name);
  const PlannedComponent* find(const std::string& name) const;
};

}  // namespace slipway::core
