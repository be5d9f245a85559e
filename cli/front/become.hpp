// SPDX-License-Identifier: Apache-2.0
// cli/front/become.hpp - this process, gone on as another program.
#pragma once

#include <string>
#include <vector>

#include <slipway/error.hpp>

namespace slipway::core {

/// Replaces this program. @param words  its arguments, its own name first
/// @return only when that failed
Error become(const std::string& program, const std::vector<std::string>& words);

}  // namespace slipway::core
