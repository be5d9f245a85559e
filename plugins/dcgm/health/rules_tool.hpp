// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/health/rules_tool.hpp - `slipway dcgm health-rules`: the rules by which slipway judges GPUs.
#pragma once

#include <slipway/commands.hpp>

namespace slipway::dcgm {

/// Prints slipway's rules with the site's file over them; a mistake in that file is its error.
Tool health_rules_tool();

}  // namespace slipway::dcgm
