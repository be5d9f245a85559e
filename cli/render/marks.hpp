// SPDX-License-Identifier: Apache-2.0
// cli/render/marks.hpp - control bytes inside a Page, which no printable text contains.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::cli {

inline constexpr char kToneMark = '\x0e';     ///< followed by the tone's letter
inline constexpr char kToneEnd = '\x0f';      ///< back to plain
inline constexpr char kHangingMark = '\x11';  ///< at the start of a line, followed by a character that encodes a column

/// Sets the column at which the continuation of a broken line starts.
std::string hanging_mark(std::size_t column);

std::string without_marks(std::string_view marked);

/// Returns the number of terminal columns that the text fills.
std::size_t shown_width(std::string_view marked);

/// Returns the text with its lines broken, see wrapped(); keeps marks of tones. @param columns  0: only removes the
/// other marks
std::string broken_lines(const std::string& marked, std::size_t columns);

}  // namespace slipway::cli
