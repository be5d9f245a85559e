// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/layouts_action.hpp - the one action of the component: the layouts of all GPUs that the config
// takes. Its data:
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

/// By the drain policy next-boot.
bool is_left_to_a_boot(const Settings& settings);

/// Its name stays the same whatever the layouts, so that a later config changes this action. At least one GPU.
/// @param clients  services that stand still meanwhile; null: none
Action layouts_action(const Settings& settings, const Json& clients, const std::vector<Intent>& gpus);
/// Where no GPU can be asked, the whole work is left to the boot.
Action layouts_at_boot(const Settings& settings);

/// While nobody can say what is to be: what was applied stays.
Action layouts_as_recorded();
/// The driver that a simulated machine is without is only there after a boot.
bool is_for_boot(const Host& host, const Error& error);

/// A GPU that cannot be asked has not what it is to have, and detect() says why; one that is lost does not count.
Result<bool> check_layouts(const Action& action, const Host& host);
/// Whether any GPU may be changed, by the drain policy.
Result<Outcome> preflight_layouts(const Action& action, const Host& host);
/// GPUs that are in use wait, if the drain policy lets them; the others are changed, side by side.
Result<Outcome> apply_layouts(const Action& action, const Host& host);

}  // namespace slipway::mig
