// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/triggers.hpp - the implementation of each kind of trigger, which Trigger calls with its argument.
#pragma once

#include <string>
#include <vector>

#include "core/action/trigger/trigger.hpp"

namespace slipway::core {

Result<Prospect> foresee_ldconfig(const std::string& none, const Host& host);
Result<Prospect> foresee_depmod(const std::string& release, const Host& host);
Result<Prospect> foresee_initramfs(const std::string& release, const Host& host);
Result<Prospect> foresee_sysusers(const std::string& none, const Host& host);
Result<Prospect> foresee_udev(const std::string& subsystem, const Host& host);
/// Serves daemon-reload, restart and reload.
Result<Prospect> foresee_systemd(const std::string& unit, const Host& host);

Result<TriggerRun> run_ldconfig(const std::string& none, ActionContext& context);
Result<TriggerRun> run_depmod(const std::string& release, ActionContext& context);
Result<TriggerRun> run_initramfs(const std::string& release, ActionContext& context);
Result<TriggerRun> run_sysusers(const std::string& none, ActionContext& context);
Result<TriggerRun> run_udev(const std::string& subsystem, ActionContext& context);
Result<TriggerRun> run_daemon_reload(const std::string& none, ActionContext& context);
Result<TriggerRun> run_restart(const std::string& unit, ActionContext& context);
Result<TriggerRun> run_reload(const std::string& unit, ActionContext& context);

/// Returns the files that depmod writes for a release.
std::vector<std::string> depmod_products(const std::string& release);

/// The initrds of a kernel in a root, and the commands that rebuild them.
struct InitrdWork {
  std::vector<std::vector<std::string>> commands;  ///< all run the same program; empty: no initrd can be rebuilt
  std::vector<std::string> images;                 ///< the files that the commands write
  std::string left;                                ///< which initrds stay as they are, and why; empty: each is rebuilt
};
/// dracut comes first: where update-initramfs exists as well, it may be a script that starts dracut (Ubuntu 26.04).
InitrdWork find_initrd_work(const Host& host, const std::string& release);

/// Returns the result of a trigger that was skipped, with the reason.
inline TriggerRun skipped(std::string why) { return TriggerRun{false, std::move(why), {}}; }

}  // namespace slipway::core
