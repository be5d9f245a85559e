// SPDX-License-Identifier: Apache-2.0
// app/subcommand.hpp - captures the output of another program of slipway.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace slipway::app {

struct CommandOutput {
  std::string out;
  std::string err;
  std::string ended;  ///< "exit status 0", "signal 11", "stopped after 120 s", or why it could not be started
};

/// Runs a program of slipway ("slipway-engine" is the one with all commands) and waits for its end.
/// @param limit  kills it after this time; empty: never
CommandOutput run_own_program(const std::string& name, std::vector<std::string> words,
                              std::optional<std::chrono::seconds> limit);

}  // namespace slipway::app
