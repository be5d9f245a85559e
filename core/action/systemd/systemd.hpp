// SPDX-License-Identifier: Apache-2.0
// core/action/systemd/systemd.hpp - queries and controls the live machine's systemd, through its own systemctl.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/service/unit_state.hpp>

#include "sandbox/tool.hpp"

namespace slipway::core {

/// True when systemd is the init system of the live machine (sd_booted(3)).
bool has_systemd(const Host& host);

/// Errors: `not_found` when the machine runs systemd but has no systemctl.
Status check_systemctl(const Host& host);
/// Runs `systemctl VERB UNIT`; an empty unit for verbs without one. Errors: as tool_failed(), with the unit's journal.
Status systemctl(const Host& host, const std::string& verb, const std::string& unit);
/// Waits until the unit has been active for a second, or its condition has skipped it. Errors: the unit's actual state,
/// with its last journal lines.
Status expect_active(const Host& host, const std::string& unit);

}  // namespace slipway::core
