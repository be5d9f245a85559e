// SPDX-License-Identifier: Apache-2.0
// cli/front/service_words.hpp - tells whether a command line is that of a service's unit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "log/settings.hpp"

namespace slipway::core {

/// `slipway service NAME --boot`, taken apart.
struct ServiceWords {
  std::string component;
  std::string root = "/";
  LogSettings log;
};

/// Empty when the command line is another one, or has an option that the program for all commands must look at, which
/// also says what is wrong. @param level  the value of SLIPWAY_LOG; null: not set
std::optional<ServiceWords> service_words(const std::vector<std::string>& words, const char* level);

}  // namespace slipway::core
