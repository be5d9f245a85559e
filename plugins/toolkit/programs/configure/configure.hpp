// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/configure/configure.hpp - the component runtime's wishes for one engine, from its files alone.
#pragma once

#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "toolkit/programs/configure/arguments.hpp"

namespace slipway::toolkit {

/// The component's own plan for an engine that nobody looks for, restarts or asks: merges and files only.
/// Errors: `invalid` a file that is broken, with its place; `not_found` no runtime program where one is needed.
Result<Plan> plan_configuration(const ConfigureArguments& arguments, const Host& host);

}  // namespace slipway::toolkit
