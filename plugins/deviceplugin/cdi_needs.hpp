// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/cdi_needs.hpp - the CDI devices that containers will be told to ask for, and whether a spec has
// them: what none has keeps each pod from starting.
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

/// As a fact: {"strategy": "cdi-cri", "naming": "uuid", "kinds": [{"kind", "flag", "class"}], "here": [KIND…]}, where
/// `here` are the kinds of the specs that engines find now. Null where the config has no strategy of CDI.
Json cdi_needs(const nvidia::config::Settings& settings, const std::string& vendor, const Host& host);

/// What the component cdi will write is compared with the needs. Nothing: they go together, or it does not say.
std::optional<Error> missing_in_cdi(const Json& needs, const Inputs& inputs);
/// Where the component cdi says nothing, and there is no spec of a kind either; empty: all is well.
std::string cdi_note(const Json& needs, const Inputs& inputs);

/// "deviceplugin.cdi": the specs that engines find have the devices.
void add_cdi_finding(const Json& needs, const Host& host, Findings& findings);

}  // namespace slipway::deviceplugin
