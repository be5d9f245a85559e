// SPDX-License-Identifier: Apache-2.0
// cli/render/marks.hpp - what a Page has between its words: bytes that no printable text has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::core {

inline constexpr char kToneMark = '\x0e';     ///< the tone's letter follows
inline constexpr char kToneEnd = '\x0f';      ///< plain from here on
inline constexpr char kHangingMark = '\x11';  ///< at the beginning of a line: the next character is a column

/// Where the line that begins goes on when it is broken.
std::string hanging_mark(std::size_t column);

std::string without_marks(std::string_view marked);

/// Columns of a terminal that it fills.
std::size_t shown_width(std::string_view marked);

/// The text with its lines broken, see wrapped(); marks of tones stay. @param columns  0: only the other marks go
std::string broken_lines(const std::string& marked, std::size_t columns);

}  // namespace slipway::core
