// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/version.hpp - versions of drivers and of CUDA: numbers joined by dots.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace slipway::hook {

/// "535.261.03" as {535, 261, 3}, which compares as versions do; nothing for a text that is no version.
std::optional<std::vector<unsigned>> parse_version(std::string_view text);

}  // namespace slipway::hook
