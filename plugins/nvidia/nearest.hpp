// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nearest.hpp - the known word that somebody probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::nvidia {

/// The word of `known` with the smallest edit distance to `word` (case does not matter), or "" when that is more than a
/// third of its length.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace slipway::nvidia
