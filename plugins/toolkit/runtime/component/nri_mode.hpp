// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/nri_mode.hpp - `mode: nri`: containers get their devices through the engine's own plugin
// interface, so nothing of the engine is changed and all that is left to plan is the service.
#pragma once

#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

/// Facts: "settings", one object for each engine that has NRI, by its name in `engines`, and "nri": who listens.
/// Errors: `not_found` a named engine is not installed; `unsupported` a named one has no NRI.
Result<Facts> detect_nri(const RuntimeSettings& settings, const Host& host);

/// Notes, and nothing else. Errors: `unsupported` the engine is too old for NRI, or runs and has it switched off.
Result<Plan> plan_nri(const RuntimeSettings& settings, const Facts& facts, bool live);

/// Findings "runtime.ENGINE": it answers; "runtime.nri": the running service says that the engine has taken it in.
Result<Findings> verify_nri(const RuntimeSettings& settings, const Host& host);

}  // namespace slipway::toolkit
