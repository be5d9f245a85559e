// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/trigger.hpp - work that is pending once something changed: ldconfig, depmod, initramfs,
// daemon-reload, restarts.
#pragma once

#include <string>
#include <vector>

#include "core/action/action_kind.hpp"

namespace slipway::core {

/// How the run of a trigger went.
struct TriggerRun {
  bool done = true;  ///< false: skipped, `why` says why (the root has no such tool and none can stand in)
  std::string why;
  std::string text;  ///< what was run, for the log
};

/// Runs one trigger: "ldconfig", "depmod:RELEASE", "initramfs:RELEASE", "daemon-reload", "restart:UNIT", "reload:UNIT".
/// In a root that is not live: depmod -b, ldconfig -r, systemctl --root of this machine, or the root's own tools in
/// private namespaces (initramfs). Repeatable. Errors: the tool's exit status and last lines, and what to do.
Result<TriggerRun> run_trigger(const std::string& trigger, ActionContext& context);

/// The files that its run writes ("/etc/ld.so.cache"): what was not there before any of our triggers goes again when
/// the last component that named it is removed.
std::vector<std::string> trigger_products(const std::string& trigger, const Host& host);

/// What the run of a trigger will come to, as far as it can be told before the change that needs it.
struct Prospect {
  std::string tool;     ///< what will be run: "depmod of this machine"; empty: nothing, or systemd is told
  std::string skipped;  ///< why there will be nothing to run; empty: there will, or it is systemd's
};

/// Looks for the program that runs a trigger when that is planned, so that nothing is changed where none is there.
/// Errors: `not_found` nobody has the tool that the change needs; `unsupported` it is the root's own, and that cannot
/// be run here: it is for another processor, or private namespaces are not allowed.
Result<Prospect> foresee_trigger(const std::string& trigger, const Host& host);

/// Errors: `invalid` for a name that is no trigger.
Status check_trigger_name(const std::string& trigger);

}  // namespace slipway::core
