// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/layouts_action.hpp - the one action of the component: the layouts of all GPUs that the config
// selects. Its data:
//
//   {"gpus": [{"gpu": ADDRESS, "uuid", "enabled", "instances": […]}, …], "driver_root"?, "kubelet_socket"?,
//    "clients"?: [UNIT, …]}
#pragma once

#include <string>
#include <vector>

#include <slipway/action.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "mig/component/settings.hpp"
#include "mig/layout/intent.hpp"

namespace slipway::mig {

/// "the config all-balanced".
std::string config_name(const Settings& settings);

/// True for the drain policy next-boot.
bool waits_for_boot(const Settings& settings);

/// Needs at least one GPU. The action's name does not depend on the layouts, so that a later config changes the same
/// action.
/// @param clients  services that are stopped meanwhile; null: none
Action layouts_action(const Settings& settings, const Json& clients, const std::vector<Intent>& gpus);
/// If no GPU can be read, all of the work is left to the boot.
Action layouts_at_boot(const Settings& settings);

/// While the target is unknown, the applied layouts stay.
Action layouts_as_recorded();
/// True when the driver is missing on a simulated machine: it appears only after a boot.
bool is_for_boot(const Host& host, const Error& error);

/// A GPU that cannot be read does not have its target, and detect() reports why; a lost GPU is ignored.
Result<bool> check_layouts(const Action& action, const Host& host);
/// Decides by the drain policy whether the GPUs may be changed.
Result<Outcome> preflight_layouts(const Action& action, const Host& host);
/// GPUs in use wait, if the drain policy allows that; the others are changed in parallel.
Result<Outcome> apply_layouts(const Action& action, const Host& host);

}  // namespace slipway::mig
