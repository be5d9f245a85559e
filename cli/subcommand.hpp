// SPDX-License-Identifier: Apache-2.0
// cli/subcommand.hpp - what another command of slipway prints.
#pragma once

#include <string>
#include <vector>

namespace slipway::core {

struct CommandOutput {
  std::string out;
  std::string err;
  std::string ended;  ///< "exit 0", "signal 11", "stopped after 120 s", or why it could not be started
};

/// Runs slipway with these words and waits, 120 seconds at most.
CommandOutput run_subcommand(const std::vector<std::string>& words);

}  // namespace slipway::core
