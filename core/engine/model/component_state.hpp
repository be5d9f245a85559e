// SPDX-License-Identifier: Apache-2.0
// core/engine/model/component_state.hpp - the state of a component after a command.
#pragma once

#include <string_view>

namespace slipway::core {

enum class ComponentState {
  ready,            ///< everything is as planned, nothing had to be done
  changed,          ///< everything is as planned now (apply), or would be changed (plan)
  removed,          ///< removed (apply), or would be removed (plan)
  deferred,         ///< an input does not exist yet: planned when its turn comes
  blocked,          ///< a component that it requires failed
  not_applicable,   ///< the machine has no such hardware
  waiting,          ///< a device is in use, or a source does not answer; apply tries again later
  reboot_required,  ///< complete except for a reboot
  failed,
};

constexpr std::string_view to_string(ComponentState state) {
  constexpr std::string_view kNames[]{"ready",          "changed", "removed",         "deferred", "blocked",
                                      "not-applicable", "waiting", "reboot-required", "failed"};
  return kNames[static_cast<int>(state)];
}

}  // namespace slipway::core
