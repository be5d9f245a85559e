// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service/unit_state.hpp - the state of a unit of the live machine's systemd, from that machine's
// systemctl.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway {

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
  bool skipped = false;  ///< systemd skipped it: one of its conditions is not met on the machine now
  bool queued = false;   ///< systemd is about to start it: at a boot, after the units that come before it

  bool running() const { return active == "active" || active == "reloading"; }
};

/// The command that unit_state() runs, whose answer is lines "ActiveState=active". For tests of plugins, with
/// FakeHost::answers().
std::vector<std::string> unit_state_command(const std::string& unit);

/// A missing unit is `not-found` and `inactive`. Errors: those of Host::run(); `io` with the status and output of
/// systemctl.
Result<UnitState> unit_state(const Host& host, const std::string& unit,
                             std::chrono::milliseconds limit = std::chrono::seconds(30));

}  // namespace slipway
