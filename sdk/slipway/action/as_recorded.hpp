// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action/as_recorded.hpp - an entry in a plan that stands for an action that a component cannot determine
// now.
//
// A plan is the complete desired state: things that it no longer lists are removed. A component that cannot determine
// an action now, because the device does not answer or its instructions have not arrived yet, lists this entry
// instead of leaving the action out.
#pragma once

#include <string>

#include <slipway/action.hpp>

namespace slipway::action {

/// Stands for the action of that kind and target as recorded when it was last applied: it stays owned and is neither
/// checked nor done. Without a record, nothing is planned.
/// Since: SDK 1.0
inline Action as_recorded(const std::string& kind, const std::string& target) {
  return Action(Json{{"kind", kind}, {"target", target}, {"as_recorded", true}});
}

/// The same for all recorded actions of the component that the plan does not list: the component could not check a part
/// of its work, and cannot name that part. Since: SDK 1.0
inline Action others_as_recorded() {
  return Action(Json{{"kind", "custom"}, {"target", "all else"}, {"as_recorded", true}, {"others", true}});
}

inline bool is_as_recorded(const Action& action) { return action.json().value("as_recorded", false); }

}  // namespace slipway::action
