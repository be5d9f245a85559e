// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/low_level_runtimes.hpp - the program that containers had before a runtime for GPUs came
// between: it goes on being the one that makes them.
//
// A handler that starts runc by another path, or crun, gives that program up for the runtime for GPUs, which looks for
// runc and then crun in PATH unless its settings say otherwise.
#pragma once

#include <string>

#include <slipway/facts.hpp>
#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

namespace slipway::toolkit {

/// Facts about it, from those of the engines by name: {"runtimes": […]} or {"note": "…"}; null: nothing to do.
/// Errors: `invalid` when the settings' file is no TOML.
Result<Json> read_low_level(const Json& engines, const Host& host);
void plan_low_level(const Json& facts, Plan& plan);

}  // namespace slipway::toolkit
