// SPDX-License-Identifier: Apache-2.0
// core/action/systemd/systemd.hpp - queries and controls the live machine's systemd, through its own systemctl.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "sandbox/tool.hpp"

namespace slipway::core {

/// The state of a unit as `systemctl show` reports it.
struct UnitState {
  std::string load;      ///< LoadState: loaded, not-found, masked, bad-setting
  std::string active;    ///< ActiveState: active, inactive, failed, activating, deactivating, reloading
  std::string sub;       ///< SubState: running, exited, dead, …
  std::string result;    ///< Result of the last run: success, exit-code, …
  std::string main_pid;  ///< "0" when there is none
  bool can_reload = false;
  bool needs_daemon_reload = false;
  bool has_run = false;  ///< a oneshot unit that has finished and does not stay active
  bool skipped = false;  ///< systemd skipped it because one of its conditions is not met on this machine
  bool queued = false;   ///< systemd will start it later during the boot, after the units that it is ordered after

  bool running() const { return active == "active" || active == "reloading"; }
};

/// True when systemd is the init system of the live machine (sd_booted(3)).
bool has_systemd(const Host& host);

/// Errors: `not_found` when the machine runs systemd but has no systemctl.
Status check_systemctl(const Host& host);
/// Errors: the status and output of systemctl.
Result<UnitState> unit_state(const Host& host, const std::string& unit);
/// Runs `systemctl VERB UNIT`; an empty unit for verbs without one. Errors: as tool_failed(), with the unit's journal.
Status systemctl(const Host& host, const std::string& verb, const std::string& unit);
/// Waits until the unit has been active for a second, or its condition has skipped it. Errors: the unit's actual state,
/// with its last journal lines.
Status expect_active(const Host& host, const std::string& unit);

}  // namespace slipway::core
