// SPDX-License-Identifier: Apache-2.0
// core/action/systemd/systemd.hpp - asks and tells the live machine's systemd, through its own systemctl.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/service/unit_state.hpp>

#include "sandbox/tool.hpp"

namespace slipway::core {

/// systemd is the init system of the live machine (sd_booted(3)).
bool has_systemd(const Host& host);

/// Errors: `not_found` the machine runs systemd, and has no systemctl to tell it something.
Status check_systemctl(const Host& host);
/// Runs `systemctl VERB UNIT`; an empty unit for verbs without one. Errors: as tool_failed(), with the unit's journal.
Status systemctl(const Host& host, const std::string& verb, const std::string& unit);
/// Waits until the unit is active and stays so for a second, or its condition has passed it over. Errors: how it is
/// instead, with its last journal lines.
Status expect_active(const Host& host, const std::string& unit);

}  // namespace slipway::core
