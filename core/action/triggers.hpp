// SPDX-License-Identifier: Apache-2.0
// core/action/triggers.hpp - each kind of trigger, as pay_trigger() calls it.
#pragma once

#include <string>
#include <vector>

#include "core/action/trigger.hpp"

namespace slipway::core {

Result<Payment> pay_ldconfig(ActionContext& context);
Result<Payment> pay_depmod(const std::string& release, ActionContext& context);
Result<Payment> pay_initramfs(const std::string& release, ActionContext& context);
Result<Payment> pay_daemon_reload(ActionContext& context);
Result<Payment> pay_restart(const std::string& unit, ActionContext& context);
Result<Payment> pay_reload(const std::string& unit, ActionContext& context);

/// The program of the root that makes the initrd of a release anew; empty where there is no such initrd.
std::string initramfs_maker(const Host& host, const std::string& release);

/// The files that depmod writes for a release.
std::vector<std::string> depmod_products(const std::string& release);

/// A payment that was not made, with the reason.
inline Payment skipped(std::string why) { return Payment{false, std::move(why), {}}; }

}  // namespace slipway::core
