// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/planned.hpp"

#include <algorithm>
#include <utility>

namespace slipway::core {

bool PlannedComponent::changes() const { return lost || std::ranges::any_of(items, &PlannedItem::changes); }

bool PlannedComponent::record_is_new() const {
  return std::ranges::all_of(items, [](const PlannedItem& item) { return item.record.is_null(); });
}

void fail(PlannedComponent& component, Error error) {
  component.state = ComponentState::failed;
  component.error = std::move(error);
}

bool PlannedRun::changes() const {
  return recovery || !pending.empty() || std::ranges::any_of(components, [](const PlannedComponent& component) {
           return component.changes() || component.leaving || component.state == ComponentState::deferred;
         });
}

bool PlannedRun::failed() const {
  return std::ranges::any_of(components, [](const PlannedComponent& component) {
    return component.state == ComponentState::failed || component.state == ComponentState::blocked;
  });
}

const PlannedComponent* PlannedRun::find(const std::string& name) const {
  const auto found = std::ranges::find(components, name, &PlannedComponent::name);
  return found == components.end() ? nullptr : &*found;
}

PlannedComponent* PlannedRun::find(const std::string& name) {
  return const_cast<PlannedComponent*>(std::as_const(*this).find(name));  // this run is not constant
}

Json plan_identity(const PlannedRun& run) {
  Json components = Json::array();
  for (const PlannedComponent& component : run.components) {
    Json items = Json::array();
    for (const PlannedItem& item : component.items)
      items.push_back({{"action", item.action.json()},
                       {"removal", item.removal},
                       {"standing", static_cast<int>(item.check.standing)}});
    components.push_back({{"name", component.name}, {"state", to_string(component.state)}, {"items", items}});
  }
  return {{"components", components}, {"kernel", run.kernel}, {"pending", run.pending}, {"spec", run.spec.document}};
}

Status check_saved_plan(const Json& saved, const PlannedRun& run) {
  if (saved.is_null() || saved == plan_identity(run)) return {};
  return Error{ErrorCode::conflict,
               "the saved plan is out of date: this host or its sources have changed since",
               run.spec.file,
               "make a new one with `slipway plan -o json`, look at it, and apply that",
               {}};
}

}  // namespace slipway::core
