// SPDX-License-Identifier: Apache-2.0
// core/action/systemd/systemd.hpp - asks and tells the live machine's systemd, through its own systemctl.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "sandbox/tool.hpp"

namespace slipway::core {

/// What `systemctl show` says of a unit.
struct UnitState {
  std::string load;      ///< LoadState: loaded, not-found, masked, bad-setting
  std::string active;    ///< ActiveState: active, inactive, failed, activating, deactivating, reloading
  std::string sub;       ///< SubState: running, exited, dead, …
  std::string result;    ///< Result of the last run: success, exit-code, …
  std::string main_pid;  ///< "0" when there is none
  bool can_reload = false;
  bool needs_daemon_reload = false;
  bool has_run = false;  ///< a oneshot that ran through and does not remain active
  bool skipped = false;  ///< one of its conditions passed it over: it is not for this machine as it is
  bool queued = false;   ///< systemd is about to start it: at a boot, behind what it comes after

  bool running() const { return active == "active" || active == "reloading"; }
};

/// systemd is the init system of the live machine (sd_booted(3)).
bool has_systemd(const Host& host);

/// Errors: `not_found` the machine runs systemd, and has no systemctl to tell it something.
Status check_systemctl(const Host& host);
/// Errors: the status and output of systemctl.
Result<UnitState> unit_state(const Host& host, const std::string& unit);
/// Runs `systemctl VERB UNIT`; an empty unit for verbs without one. Errors: as tool_failed(), with the unit's journal.
Status systemctl(const Host& host, const std::string& verb, const std::string& unit);
/// Waits until the unit is active and stays so for a second, or its condition has passed it over. Errors: how it is
/// instead, with its last journal lines.
Status expect_active(const Host& host, const std::string& unit);

}  // namespace slipway::core
