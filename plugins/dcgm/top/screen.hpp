// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/top/screen.hpp - an overview of the GPUs as lines for a terminal: a pure function.
#pragma once

#include <string>
#include <vector>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {

/// What the terminal shows.
struct ScreenLook {
  std::size_t columns = 80;  ///< no line is wider; at least kNarrowest
  std::size_t rows = 0;      ///< no more lines; what does not fit is counted in the last one. 0: any number
  bool utf8 = false;         ///< bars and lines of block characters; else all of it is ASCII
  bool colour = false;
  static constexpr std::size_t kNarrowest = 40;
};

/// Lines without their ends. What others have named holds no control characters and nothing but ASCII.
/// @param note  who the values are from, and what keys do
std::vector<std::string> screen_lines(const Overview& overview, const ScreenLook& look, const std::string& note);

}  // namespace slipway::dcgm
