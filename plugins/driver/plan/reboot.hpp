// SPDX-License-Identifier: Apache-2.0
// plugins/driver/plan/reboot.hpp - custom actions for what only a reboot changes: which driver runs in the kernel.
#pragma once

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>

#include "driver/detect/host_facts.hpp"

namespace slipway::driver {

/// A driver of the kernel's own (nouveau, nova) is bound to a GPU.
bool held_by_other_driver(const HostFacts& facts);

/// Holds when no GPU is bound to nouveau or nova.
Action reboot_for_other_driver();

/// The component's check() and apply() for these. Applying changes nothing: it says that a reboot is due, and why.
Result<bool> check_reboot(const Action& action, const Host& host);
Result<Outcome> apply_reboot(const Action& action, const Host& host);

}  // namespace slipway::driver
