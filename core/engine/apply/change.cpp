// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "core/action/store/store.hpp"
#include "core/engine/apply/apply_run.hpp"
#include "core/engine/apply/transaction.hpp"
#include "core/engine/model/relations.hpp"
#include "core/engine/packages/layers.hpp"
#include "core/engine/packages/sources.hpp"
#include "core/engine/records/generations.hpp"
#include "core/engine/records/unproven_change.hpp"
#include "core/engine/stop.hpp"
#include "core/engine/unit/units.hpp"
#include "core/graph/graph.hpp"

namespace slipway::core {
namespace {

using States = std::initializer_list<ComponentState>;

bool is_one_of(ComponentState state, States states) { return std::ranges::count(states, state) > 0; }

std::map<std::string, Json> sources_of(const Session& session, const PlannedComponent& component) {
  const Manifest* manifest = session.plugins().manifest(component.name);
  if (manifest == nullptr) return {};
  return plain_sources(named_sources(*manifest, component.section));
}

bool blocked(const ApplyRun& apply, PlannedComponent& component) {
  const Manifest* manifest = apply.session.plugins().manifest(component.name);
  if (manifest == nullptr || component.leaving) return false;
  for (const PlannedComponent& other : apply.result.run.components) {
    const Manifest* provider = apply.session.plugins().manifest(other.name);
    if (!is_one_of(other.state, {ComponentState::failed, ComponentState::blocked})) continue;
    if (provider == nullptr || !is_among(*provider, manifest->requires_)) continue;
    component.state = ComponentState::blocked;
    component.blocked_by = other.name;
    component.reason = "it requires " + other.name + ", which is " + std::string(to_string(other.state));
    return true;
  }
  return false;
}

/// Returns the component's position among all components of the spec, from 1, including those outside this run;
/// removals go backwards.
int order_of(const PlannedRun& run, const PlannedComponent& component) {
  return static_cast<int>(std::ranges::find(run.order, component.name) - run.order.begin()) + 1;
}

/// Returns the first component that this one comes after and that is in one of these states; null if not found.
const PlannedComponent* one_before(const ApplyRun& apply, const PlannedComponent& component, States states) {
  for (const PlannedComponent& other : apply.result.run.components)
    if (is_one_of(other.state, states) && comes_after(apply.session, component.name, other.name)) return &other;
  return nullptr;
}

/// True when an earlier component was changed in this run, perhaps only partly when it waits. The plan of this
/// component may then be outdated.
bool follows_a_change(const ApplyRun& apply, const PlannedComponent& component) {
  const States changed{ComponentState::changed, ComponentState::reboot_required, ComponentState::waiting};
  return !component.leaving && one_before(apply, component, changed) != nullptr;
}

/// Makes a component that cannot be planned wait for the next apply, because an earlier one waits or needs a reboot.
void defer_after_waiting(const ApplyRun& apply, PlannedComponent& component) {
  if (component.error->code != ErrorCode::not_found && component.error->code != ErrorCode::conflict) return;
  const auto* other = one_before(apply, component, {ComponentState::reboot_required, ComponentState::waiting});
  if (other == nullptr) return;
  component.state = ComponentState::deferred;
  component.reason =
      other->name + " is " + std::string(to_string(other->state)) + "; until it is ready: " + component.error->what;
  component.error.reset();
}

void plan_again(ApplyRun& apply, PlannedComponent& component) {
  const auto owned = apply.session.state().ownerships();
  if (!owned) return fail(component, owned.error());
  PlannedRun& run = apply.result.run;
  component = plan_component(apply.session, run, component.name, owned_by(component.name, *owned), apply.options.plan,
                             run.lock);
  if (component.error) return defer_after_waiting(apply, component);
  if (auto clash = clash_of(component, run, *owned, apply.session)) return fail(component, std::move(*clash));
  if (const Status fetched = fetch_layers(apply.session, component); !fetched) fail(component, fetched.error());
}

/// True when every component of the spec has failed, so that a boot has nothing to complete.
bool boot_has_no_work(const PlannedRun& run, const PlannedComponent& component) {
  return component.name == kBootComponent && !component.leaving && component.record_is_new() &&
         std::ranges::none_of(run.components, [](const PlannedComponent& other) {
           return other.name != kBootComponent && !other.leaving &&
                  !is_one_of(other.state, {ComponentState::failed, ComponentState::blocked});
         });
}

/// True when the boot unit would be removed too early: a component that could not be removed is still there at the next
/// boot.
bool leaves_too_early(const PlannedRun& run, const PlannedComponent& component) {
  return component.name == kBootComponent && component.leaving &&
         std::ranges::any_of(run.components,
                             [](const PlannedComponent& other) { return other.leaving && other.error; });
}

}  // namespace

Status fetch_layers(Session& session, const PlannedComponent& component) {
  Json layers = Json::array();
  for (const PlannedItem& item : component.items) {
    if (!item.changes() || item.removal) continue;
    const std::string store = item.kind->store(item.action);
    for (const Json& layer : item.action.value("layers"))
      if (store.empty() || !has_layer(session.root(), store, layer)) layers.push_back(layer);
  }
  if (layers.empty()) return {};
  ComponentLayers fetcher(session, component.name, sources_of(session, component));
  SLIPWAY_CHECK(fetcher.fetch(layers));
  return check_not_stopped();
}

void block_boot_without_work(PlannedComponent& component) {
  component.state = ComponentState::blocked;
  component.reason = "there is no component that a boot could finish";
}

void await_source(const ApplyRun& apply, PlannedComponent& component) {
  if (!apply.options.awaits_sources || !component.error || component.error->code != ErrorCode::unreachable) return;
  component.state = ComponentState::waiting;
  component.reason = component.error->what;
  component.awaits_source = true;
  component.items.clear();
  component.error.reset();
}

void change_component(ApplyRun& apply, PlannedComponent& component) {
  if (component.error || component.awaits_source || blocked(apply, component)) return;
  if (leaves_too_early(apply.result.run, component)) {
    component.state = ComponentState::blocked;
    component.reason = "this component could not be removed, and a boot would restore it";
    return;
  }
  if (boot_has_no_work(apply.result.run, component)) return block_boot_without_work(component);
  if (component.state == ComponentState::deferred || follows_a_change(apply, component)) plan_again(apply, component);
  await_source(apply, component);
  if (component.error || component.awaits_source || component.state == ComponentState::not_applicable) return;
  const bool changes = component.changes();
  if (!changes && !component.leaving && !component.updates_record) return;
  if (const Status stop = check_not_stopped(); !stop) return fail(component, stop.error());
  Transaction transaction(apply.session, *apply.journal, component, order_of(apply.result.run, component),
                          sources_of(apply.session, component));
  const auto applied = applied_entry(apply.session, apply.result.run, component.name);
  if (!applied) return fail(component, applied.error());
  const int base = apply.recording.base ? apply.recording.base->number : 0;
  if (const Status noted = note_former_sets(apply.session, component, base); !noted)
    return fail(component, noted.error());
  const base::ExclusiveUse::Scope exclusive(apply.session.exclusive_use);
  auto outcome = transaction.run(*applied);
  if (!outcome) return fail(component, std::move(outcome).error());
  if (!changes && !component.leaving) return;
  component.state = component.leaving ? ComponentState::removed : ComponentState::changed;
  if (outcome->kind == Outcome::Kind::waiting) component.state = ComponentState::waiting;
  if (outcome->kind == Outcome::Kind::reboot_required) component.state = ComponentState::reboot_required;
  component.reason = outcome->reason;
  if (!outcome->holders.empty()) component.reason += "; held by " + listed(outcome->holders, "and");
  if (component.leaving && component.lost) component.reason = "its record was lost: what it created before stays";
}

}  // namespace slipway::core
