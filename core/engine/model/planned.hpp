// SPDX-License-Identifier: Apache-2.0
// core/engine/model/planned.hpp - a plan as the core sees it: each action with its check result, and the removals.
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

/// One action of a plan, or the removal of a thing that is no longer planned.
struct PlannedItem {
  Action action;
  const ActionKind* kind;  ///< the kind of the action
  bool removal = false;
  Check check;
  Json record;     ///< the recorded fingerprint, null when it is new
  Image original;  ///< null when it is new: captured before the change
  Image former;    ///< the original as the plan found it, including keys that this change no longer lists
  Json replaced = Json::object();   ///< Owned::replaced
  std::optional<Edit> replaces;     ///< the edit that this change overwrites with the planned content
  Json record_before_edit;          ///< with `replaces`: the record that the edit differs from
  std::string restored_generation;  ///< the generation whose replaced edit this change restores; empty: none

  std::string key() const { return action.kind() + " " + action.target(); }
  bool changes() const { return check.standing == Check::Standing::change; }
};

struct PlannedComponent {
  std::string name;
  ComponentState state = ComponentState::ready;
  Facts facts;
  Plan plan;
  std::vector<PlannedItem> items;         ///< removals first (newest first), then the plan in its order
  std::map<Trigger, Prospect> prospects;  ///< for the triggers that the items will need
  std::string reason;                     ///< why it is not applicable, blocked or deferred
  std::string blocked_by;                 ///< the required component that failed or is blocked
  std::string follows;  ///< an earlier component that changes devices, after which this one is planned; empty: none
  std::optional<Error> error;      ///< when it failed
  Json section;                    ///< its section of the spec
  std::set<std::string> recorded;  ///< keys of actions that stay as recorded, because they cannot be planned now
  bool awaits_source = false;      ///< it waits unchanged, because its artifact source does not answer
  bool lost = false;               ///< see Ownership
  bool leaving = false;            ///< no longer in the spec
  Json accepted = Json::object();  ///< its part of Generation::accepted
  bool updates_record = false;     ///< the record of a kept edit or a removal is outdated, and is updated
  bool adopts_edit = false;        ///< the edit equals what the spec asks for now, and is recorded as slipway's

  bool changes() const;
  /// True when nothing of it is recorded yet.
  bool record_is_new() const;
};

void fail(PlannedComponent& component, Error error);

/// The least interruption by which a plan can be carried out.
struct Interruption {
  enum class Level { none, services, driver_reload, reboot };
  Level level = Level::none;
  std::vector<std::string> why;  ///< "driver: 550.163.01 (open) is to be loaded"

  std::string name() const;  ///< "none", "services", "driver reload", "reboot"
};

/// The plan of one spec on one host.
struct PlannedRun {
  HostSpec spec;
  std::string kernel;                        ///< the target release, empty when it is unknown
  std::vector<std::string> order;            ///< all components of the spec, in the graph's order
  std::vector<PlannedComponent> components;  ///< removed components first, then the others in the graph's order
  std::vector<std::string> pending;          ///< triggers that an interrupted apply left
  std::vector<Trigger> triggers;             ///< triggers that these changes need
  std::map<Trigger, Prospect> prospects;     ///< the expected result of each of them
  bool partial = false;                      ///< the run plans some components only (`--only`)
  bool recovery = false;                     ///< an interrupted apply has to be undone first
  Lock lock;                                 ///< the chosen packages
  Json handed_on = Json::object();           ///< by component: outputs of the components outside this run
  Json recorded = Json::object();  ///< by component: outputs of the components in this run, from the last apply
  Interruption interruption;       ///< of the machine that runs; none for an image
  bool on_machine = false;         ///< a kernel is visible
  Findings warnings;               ///< about the whole host: its GPUs differ from the spec's expectation
  bool without_records = false;    ///< this user may not read the records of earlier applies
  Json in_force;                   ///< the spec of the active generation, as written; null when there is no generation
  Json failing = Json::object();   ///< by component: failures that remained after an earlier apply
  Json accepted = Json::object();  ///< edits accepted so far, in Generation's form

  bool changes() const;
  bool failed() const;
  PlannedComponent* find(const std::string& name);
  const PlannedComponent* find(const std::string& name) const;
};

}  // namespace slipway::core
