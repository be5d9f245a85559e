// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/text/display.hpp - how to show results: the abilities of the terminal and the locale, line wrapping, and
// text inside pictures.
//
// All of it is about this process: a tool that slipway runs in a worker has no terminal.
#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// True when the descriptor is a terminal that shows colours: NO_COLOR (no-color.org) is not set, and TERM is not dumb.
bool shows_colour(int descriptor);

/// True when this process's locale uses UTF-8, by LC_ALL, LC_CTYPE or LANG.
bool locale_is_utf8();

/// Returns lines of at most `width` columns, broken between words; a longer word stays whole. Every line has a line
/// end, and all but the first are indented by `indent` blanks.
/// @param first  columns already used in the first line
std::string folded(std::string_view text, std::size_t width, std::size_t indent, std::size_t first);

// Pictures are SVG files, which users open in browsers and put into documents.

/// Escapes text for the content or a quoted attribute of an XML element; control characters become "?".
std::string xml_text(std::string_view text);

}  // namespace slipway
