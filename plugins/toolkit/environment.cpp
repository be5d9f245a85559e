// SPDX-License-Identifier: Apache-2.0
#include "toolkit/environment.hpp"

#include <cstdlib>

namespace slipway::toolkit {

std::string process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody here sets variables
  return value == nullptr ? std::string() : value;
}

}  // namespace slipway::toolkit
