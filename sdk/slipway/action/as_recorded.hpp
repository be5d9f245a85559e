// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/action/as_recorded.hpp - a place in a plan for what a component cannot say at the moment.
//
// A plan is the whole desired state: what it does not list any more is taken away. A component that cannot tell now
// what is to be there, since the device does not answer or the order has not come yet, lists this instead of leaving
// the action out.
#pragma once

#include <string>

#include <slipway/action.hpp>

namespace slipway::action {

/// The core takes the action of that kind and target as it was recorded when it was last applied: it stays owned and is
/// neither checked nor done. Where nothing is recorded, nothing is planned.
/// Since: SDK 1.0
inline Action as_recorded(const std::string& kind, const std::string& target) {
  return Action(Json{{"kind", kind}, {"target", target}, {"as_recorded", true}});
}

/// The same of everything that is recorded of the component and that the plan does not list: it could not judge a part
/// of its work, and cannot name what that part was. Since: SDK 1.0
inline Action others_as_recorded() {
  return Action(Json{{"kind", "custom"}, {"target", "all else"}, {"as_recorded", true}, {"others", true}});
}

inline bool is_as_recorded(const Action& action) { return action.json().value("as_recorded", false); }

}  // namespace slipway::action
