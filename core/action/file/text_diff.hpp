// SPDX-License-Identifier: Apache-2.0
// core/action/file/text_diff.hpp - shows the change of a text as a unified diff.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::core {

constexpr std::size_t kDiffLines = 200;

/// A unified diff with three lines of context, cut after `max_lines` lines with a line that says how many are left out.
/// Empty when the texts are equal or one of them is not text (has a NUL byte).
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after,
                         std::size_t max_lines = kDiffLines);

}  // namespace slipway::core
