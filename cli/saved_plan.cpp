// SPDX-License-Identifier: Apache-2.0
#include "cli/saved_plan.hpp"

namespace slipway::core {

Json plan_identity(const PlannedRun& run) {
  Json components = Json::array();
  for (const PlannedComponent& component : run.components) {
    Json items = Json::array();
    for (const PlannedItem& item : component.items) {
      items.push_back({{"action", item.action.json()},
                       {"removal", item.removal},
                       {"standing", static_cast<int>(item.check.standing)}});
      if (item.replaces) items.back()["replaces"] = item.replaces->state;
      if (!item.brings_back.empty()) items.back()["brings_back"] = item.brings_back;
    }
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
