// SPDX-License-Identifier: Apache-2.0
// core/engine/helper_path.hpp - where slipway's own helpers lie.
#pragma once

#include <string>

namespace slipway::core {

/// The folder that holds artifact plugins and helper programs: ../libexec/slipway of the program, or the build's bin.
std::string helper_path(const std::string& name);

}  // namespace slipway::core
