// SPDX-License-Identifier: Apache-2.0
// cli/front/direct_service.hpp - runs a component's service as its unit does, without the program for all commands, so
// that the process beside the service stays small.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log/settings.hpp"

namespace slipway::cli {

/// The parts of `slipway service NAME --boot`.
struct ServiceWords {
  std::string component;
  std::string root = "/";
  base::LogSettings log;
  bool condition = false;  ///< --condition: only checks for its device
};

/// Runs the service with the data that the apply left for it (/etc/slipway/services/NAME.json).
/// @return its exit status; empty when this is not possible, and the program for all commands has to report the reason
std::optional<int> run_direct_service(const ServiceWords& words);

/// Parses the command line. Empty when it is another one, or has an option that the program for all commands must
/// handle; that program also reports errors. @param level  the value of SLIPWAY_LOG; null: not set
std::optional<ServiceWords> service_words(const std::vector<std::string>& words, const char* level);

}  // namespace slipway::cli
