// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/triggers.hpp - each kind of trigger, as pay_trigger() calls it.
#pragma once

#include <string>
#include <vector>

#include "core/action/trigger/trigger.hpp"

namespace slipway::core {

Result<Prospect> foresee_ldconfig(const Host& host);
Result<Prospect> foresee_depmod(const std::string& release, const Host& host);
Result<Prospect> foresee_initramfs(const std::string& release, const Host& host);
/// For daemon-reload, restart and reload alike.
Result<Prospect> foresee_systemd(const Host& host);

Result<Payment> pay_ldconfig(ActionContext& context);
Result<Payment> pay_depmod(const std::string& release, ActionContext& context);
Result<Payment> pay_initramfs(const std::string& release, ActionContext& context);
Result<Payment> pay_daemon_reload(ActionContext& context);
Result<Payment> pay_restart(const std::string& unit, ActionContext& context);
Result<Payment> pay_reload(const std::string& unit, ActionContext& context);

/// The files that depmod writes for a release.
std::vector<std::string> depmod_products(const std::string& release);

/// A payment that was not made, with the reason.
inline Payment skipped(std::string why) { return Payment{false, std::move(why), {}}; }

}  // namespace slipway::core
