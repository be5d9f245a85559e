// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/tool_mode.hpp - runs one tool of a plugin for the user who called it, without slipway around.
#pragma once

#include <string>
#include <vector>

namespace slipway::core {

/// What the tool prints goes to standard output, what it logs is left out as slipway does without -v, progress is shown
/// to nobody. @param words the plugin's path, the component, the tool and its arguments  @return the exit status
int run_tool_alone(const std::vector<std::string>& words);

}  // namespace slipway::core
