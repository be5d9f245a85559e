// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/cdi_needs.hpp - the CDI devices that containers will be told to request, and whether a spec has
// them: a missing one keeps each pod from starting.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/inputs.hpp>
#include <slipway/json.hpp>

#include "nvidia/config/settings.hpp"

namespace slipway::deviceplugin {

/// Returns a fact: {"strategy": "cdi-cri", "naming": "uuid", "kinds": [{"kind", "flag", "class"}], "here": [KIND…]},
/// where `here` are the kinds of the specs that container engines find now. Null if the config has no CDI strategy.
Json cdi_needs(const nvidia::config::Settings& settings, const std::string& vendor, const Host& host);

/// Compares the needs with the specs that the component cdi will write. Empty: they match, or cdi reports nothing.
std::optional<Error> missing_in_cdi(const Json& needs, const Inputs& inputs);
/// Returns a note if the component cdi reports nothing and a kind has no spec either; empty: all is well.
std::string cdi_note(const Json& needs, const Inputs& inputs);

/// Adds "deviceplugin.cdi": passes if the specs that container engines find have the devices.
void add_cdi_finding(const Json& needs, const Host& host, Findings& findings);

}  // namespace slipway::deviceplugin
