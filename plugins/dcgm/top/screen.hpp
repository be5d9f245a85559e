// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/top/screen.hpp - an overview of the GPUs as lines for a terminal: a pure function.
#pragma once

#include <string>
#include <vector>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {

/// Properties of the terminal.
struct ScreenLook {
  std::size_t columns = 80;  ///< no line is wider; at least kNarrowest
  std::size_t rows = 0;      ///< maximum number of lines; the last one counts those that do not fit. 0: unlimited
  bool utf8 = false;         ///< bars and lines use block characters; else only ASCII
  bool colour = false;
  static constexpr std::size_t kNarrowest = 40;
};

/// Returns the lines without line ends. Names of processes and pods are reduced to printable ASCII.
/// @param note  source of the values, and the keys
std::vector<std::string> screen_lines(const Overview& overview, const ScreenLook& look, const std::string& note);

}  // namespace slipway::dcgm
