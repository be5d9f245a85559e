// SPDX-License-Identifier: Apache-2.0
// cli/render/wrap.hpp - text for people fits the terminal: long lines go on below, indented.
#pragma once

#include <cstddef>
#include <string>

namespace slipway::core {

/// Columns of the terminal that a descriptor is; 0: it is none, so lines stay whole, for programs that read them.
/// SLIPWAY_COLUMNS says it for anything.
std::size_t columns_of(int descriptor);

/// Breaks lines that are longer, between words, and long paths behind a slash. A command in backquotes stays whole
/// where a line has room for it.
std::string wrapped(const std::string& text, std::size_t columns);

}  // namespace slipway::core
