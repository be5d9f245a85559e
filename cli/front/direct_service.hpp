// SPDX-License-Identifier: Apache-2.0
// cli/front/direct_service.hpp - runs a component's service as its unit does, without the program that knows all
// commands: what remains beside the service is then small.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log/settings.hpp"

namespace slipway::core {

/// `slipway service NAME --boot`, taken apart.
struct ServiceWords {
  std::string component;
  std::string root = "/";
  LogSettings log;
  bool condition = false;  ///< --condition: only whether its device is there
};

/// Runs the service with what the apply left for it (/etc/slipway/services/NAME.json).
/// @return its exit status; empty when it cannot be run so, and the program for all commands is to say why
std::optional<int> run_direct_service(const ServiceWords& words);

/// Empty when the command line is another one, or has an option that the program for all commands must look at, which
/// also says what is wrong. @param level  the value of SLIPWAY_LOG; null: not set
std::optional<ServiceWords> service_words(const std::vector<std::string>& words, const char* level);

}  // namespace slipway::core
