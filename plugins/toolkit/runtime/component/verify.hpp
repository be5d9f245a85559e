// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/verify.hpp - whether engines have what was asked for, as they say themselves.
#pragma once

#include <string>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// What containerd says that its configuration amounts to has the handlers, and its CRI plugin is loaded.
/// @param facts  of read_containerd()
void verify_containerd(const std::string& name, const RuntimeSettings& settings, const Json& facts, const Host& host,
                       Findings& findings);

/// The engine answers at its socket; one without a daemon has nothing to exercise.
void verify_answers(const std::string& name, const Json& facts, const Host& host, Findings& findings);

}  // namespace slipway::toolkit
