// SPDX-License-Identifier: Apache-2.0
// plugins/validator/probe_process.hpp - a helper program that may crash or hang: started, read, ended in time.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::validator {

/// Runs it with this environment and nothing else, and gives what it wrote on standard output.
/// Errors: `timed_out` it was killed after `limit`; `cancelled` it was killed because of `stop`; `io` it ended with a
/// signal or another status than 0; `not_found`, … it cannot be started.
Result<std::string> run_probe(std::vector<std::string> argv, std::vector<std::string> environment,
                              std::chrono::milliseconds limit, const std::stop_token& stop);

/// The program of that name beside this plugin's own file. Errors: `not_found`; `denied` others could have changed it.
Result<std::string> program_beside_plugin(const std::string& name);

}  // namespace slipway::validator
