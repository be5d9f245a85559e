// SPDX-License-Identifier: Apache-2.0
// plugins/driver/enroll/enroll_tool.hpp - `slipway driver enroll`: the machine's own key for kernel modules, and its
// way into the list that shim trusts (MOK).
#pragma once

#include <slipway/commands.hpp>

namespace slipway::driver {

CommandTable enroll_line();

/// Runs the tool.
Result<int> run_enroll(const CommandWords& words, const Host& host, ToolIo& io);

}  // namespace slipway::driver
