// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/environment.hpp - the environment variables of NVIDIA's container toolkit, and the parts of a path.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

namespace slipway::toolkit {

/// Returns the value of an environment variable, empty when it is not set.
using Environment = std::function<std::string(const std::string& name)>;
inline std::string process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): no code here sets variables
  return value == nullptr ? std::string() : value;
}

inline std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// Empty for a name in "/" and for a path without a folder.
inline std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "" : std::string(path.substr(0, slash));
}

}  // namespace slipway::toolkit
