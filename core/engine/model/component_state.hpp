// SPDX-License-Identifier: Apache-2.0
// core/engine/model/component_state.hpp - where a component stands after a command.
#pragma once

#include <string_view>

namespace slipway::core {

enum class ComponentState {
  ready,            ///< everything holds, nothing had to be done
  changed,          ///< everything holds now (apply), or would be changed (plan)
  removed,          ///< was taken away (apply), or would be (plan)
  deferred,         ///< an input does not exist yet: it is planned when its turn comes
  blocked,          ///< a component that it requires failed
  not_applicable,   ///< no such hardware here
  waiting,          ///< somebody is in the way; apply comes back later
  reboot_required,  ///< done but for a reboot
  failed,
};

constexpr std::string_view to_string(ComponentState state) {
  constexpr std::string_view kNames[]{"ready",          "changed", "removed",         "deferred", "blocked",
                                      "not-applicable", "waiting", "reboot-required", "failed"};
  return kNames[static_cast<int>(state)];
}

}  // namespace slipway::core
