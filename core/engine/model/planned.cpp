// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model/planned.hpp"

#include <algorithm>
#include <utility>

namespace slipway::core {

bool PlannedComponent::changes() const {
  return lost || adopts_edit || std::ranges::any_of(items, &PlannedItem::changes);
}

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
  return const_cast<PlannedComponent*>(std::as_const(*this).find(name));  // this object is not const
}

}  // namespace slipway::core
