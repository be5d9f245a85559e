// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/items.hpp"

#include <algorithm>
#include <set>

#include <slipway/action/as_recorded.hpp>

#include "core/action/trigger/trigger.hpp"
#include "core/engine/packages/layers.hpp"
#include "core/engine/plan/edits.hpp"
#include "core/engine/plan/read_only.hpp"

namespace slipway::core {
namespace {

Status check_actions(const std::string& component, const Plan& plan) {
  std::set<std::string> seen;
  for (const Action& action : plan.actions()) {
    SLIPWAY_CHECK(action_kind(action.kind()));
    if (!seen.insert(action.kind() + " " + action.target()).second)
      return Error{ErrorCode::plugin_defect,
                   "the plan of " + component + " lists " + action.kind() + " " + action.target() + " twice",
                   {},
                   "report it to the plugin's authors",
                   {}};
    for (const Trigger& trigger : triggers_of(action)) SLIPWAY_CHECK(trigger.check());
  }
  return {};
}

/// Replaces actions that the component cannot plan now with their records (sdk/slipway/action/as_recorded.hpp).
void put_recorded(PlannedComponent& planned, const Ownership* owned) {
  if (std::ranges::none_of(planned.plan.actions(), action::is_as_recorded)) return;
  Plan settled;
  const auto is_listed = [&planned](const Owned& item) {
    return std::ranges::any_of(planned.plan.actions(), [&item](const Action& action) {
      return action.kind() + " " + action.target() == item.key();
    });
  };
  for (const Action& action : planned.plan.actions()) {
    if (action.json().value("others", false) && owned != nullptr)
      for (const Owned& item : owned->items)
        if (!is_listed(item)) {
          settled.add(item.action);
          planned.recorded.insert(item.key());
        }
    const std::string key = action.kind() + " " + action.target();
    const Owned* const recorded = owned == nullptr ? nullptr : owned->find(key);
    if (!action::is_as_recorded(action)) {
      settled.add(action);
    } else if (recorded != nullptr) {
      settled.add(recorded->action);
      planned.recorded.insert(key);
    }
  }
  for (const auto& [name, value] : planned.plan.outputs().items()) settled.output(name, value);
  for (const std::string& note : planned.plan.notes()) settled.note(note);
  planned.plan = std::move(settled);
}

/// Adds removals for everything owned that the plan does not list any more, newest first.
Status add_removals(Session& session, PlannedComponent& planned, const Ownership* owned, LayerStager& layers) {
  if (owned == nullptr) return {};
  for (auto item = owned->items.rbegin(); item != owned->items.rend(); ++item) {  // NOLINT(modernize-loop-convert)
    const bool still_planned =
        std::any_of(planned.plan.actions().begin(), planned.plan.actions().end(),
                    [&](const Action& action) { return action.kind() + " " + action.target() == item->key(); });
    if (still_planned) continue;
    SLIPWAY_TRY(kind, action_kind(item->action.kind()));
    PlannedItem removal{item->action, kind, true, {}, item->record, item->original};
    ActionContext context = make_context(session, planned.name, layers, item->record, item->original);
    if (planned.accepted.contains(removal.key())) SLIPWAY_CHECK(adopt_accepted_edit(removal, planned, context));
    SLIPWAY_TRY(drifted, kind->drifted(removal.action, context));
    planned.updates_record = planned.updates_record || drifted;
    removal.check.standing = drifted ? Check::Standing::drift_kept : Check::Standing::change;
    removal.check.summary =
        drifted ? "keep, because it was changed since: " + removal.key() : kind->removal(removal.action);
    planned.items.push_back(std::move(removal));
  }
  return {};
}

Status add_desired(Session& session, PlannedComponent& planned, const Ownership* owned, LayerStager& layers,
                   const PlanOptions& options) {
  for (const Action& action : planned.plan.actions()) {
    SLIPWAY_TRY(kind, action_kind(action.kind()));
    PlannedItem item{action, kind, false, {}, {}, {}};
    const Owned* earlier = owned == nullptr ? nullptr : owned->find(item.key());
    if (earlier != nullptr) {
      item.record = earlier->record;
      item.original = earlier->original;
    }
    if (planned.recorded.contains(item.key())) {
      item.replaced = earlier->replaced;
      item.check.standing = Check::Standing::satisfied;
      item.check.summary = item.key() + " stays as it was applied";
      planned.items.push_back(std::move(item));
      continue;
    }
    ActionContext context = make_context(session, planned.name, layers, item.record, item.original);
    SLIPWAY_TRY(check, kind->check(action, context));
    item.check = std::move(check);
    if (earlier != nullptr) SLIPWAY_CHECK(decide(item, *earlier, planned, options, context));
    if (item.check.standing == Check::Standing::conflict) {
      Error problem = item.check.problem.value_or(Error{ErrorCode::conflict, item.check.summary, {}, {}, {}});
      return problem;
    }
    planned.items.push_back(std::move(item));
  }
  return {};
}

/// Looks for the programs that the triggers will need before anything is changed. A removal works without these
/// programs: it removes their output, or leaves the output as outdated as a removal by hand does.
Status foresee_triggers(const Session& session, PlannedComponent& planned) {
  std::optional<Error> first;
  for (const bool removal : {false, true})
    for (const PlannedItem& item : planned.items) {
      if (!item.changes() || item.removal != removal) continue;
      for (const Trigger& trigger : triggers_of(item.action)) {
        if (planned.prospects.contains(trigger)) continue;
        auto prospect = trigger.foresee(session.host());
        planned.prospects[trigger] = prospect ? *prospect : Prospect{{}, prospect.error().what};
        if (prospect || removal) continue;
        if (!first)
          first = std::move(prospect).error();
        else
          first->details.emplace_back("also", prospect.error().what + "; " + prospect.error().next);
      }
    }
  return first ? Status(std::move(*first)) : Status{};
}

}  // namespace

Status fill_items(Session& session, PlannedComponent& planned, const Ownership* owned,
                  const std::map<std::string, NamedSource>& sources, const PlannedRun& run,
                  const PlanOptions& options) {
  SLIPWAY_CHECK(check_actions(planned.name, planned.plan));
  put_recorded(planned, owned);
  planned.lost = owned != nullptr && owned->lost;
  if (planned.lost)
    planned.plan.note(planned.leaving ? "its record was lost: what it created before stays"
                                      : "its record was lost: whatever matches the plan is taken over");
  planned.accepted = run.accepted.value(planned.name, Json::object());
  ComponentLayers layers(session, planned.name, plain_sources(sources));
  SLIPWAY_CHECK(add_removals(session, planned, owned, layers));
  SLIPWAY_CHECK(add_desired(session, planned, owned, layers, options));
  SLIPWAY_CHECK(check_writable(session, planned));
  if (planned.adopts_edit) planned.plan.note("an edit now matches what the spec asks for, so slipway manages it again");
  return foresee_triggers(session, planned);
}

}  // namespace slipway::core
