// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/top/line.hpp - the command line of `slipway top`, for the program itself, and for the help of the
// component and the completions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <slipway/command_line.hpp>

#include "dcgm/top/source.hpp"

namespace slipway::dcgm {

CommandTable top_line();

struct TopOptions {
  bool once = false;
  bool json = false;
  bool direct = false;  ///< read NVML, do not ask the service
  std::optional<std::chrono::milliseconds> interval;
  std::string sim;
  std::string root = "/";  ///< the root whose service is asked
  std::optional<ServicePlace> service;
};

/// @param draws  true: standard output is a terminal with cursor control. Errors: `usage`; those of read_interval().
Result<TopOptions> read_top_options(const CommandWords& words, bool draws);

}  // namespace slipway::dcgm
