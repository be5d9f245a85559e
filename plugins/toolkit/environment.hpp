// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/environment.hpp - environment variables, by which NVIDIA's container toolkit is told things.
#pragma once

#include <functional>
#include <string>

namespace slipway::toolkit {

/// The value of an environment variable, empty when it is not set.
using Environment = std::function<std::string(const std::string& name)>;
std::string process_environment(const std::string& name);

}  // namespace slipway::toolkit
