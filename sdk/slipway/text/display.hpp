// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/text/display.hpp - how results can be shown: what the terminal and the locale take, lines that are
// not too long, and text inside pictures.
//
// All of it is about this process: a tool that slipway runs in a worker has no terminal.
#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// The descriptor is a terminal that shows colours: NO_COLOR (no-color.org) is not set, and TERM is not dumb.
bool shows_colour(int descriptor);

/// The characters of this process's locale are UTF-8, by LC_ALL, LC_CTYPE or LANG.
bool locale_is_utf8();

/// Lines of at most `width` columns, broken between words; a word that is longer stays whole. Every line has an end,
/// and all but the first stand behind `indent` blanks.
/// @param first  columns that the first line has filled already
std::string folded(std::string_view text, std::size_t width, std::size_t indent, std::size_t first);

// Pictures are SVG files, which people open in browsers and put into documents.

/// The text as the content or the quoted attribute of an XML element; control characters become "?".
std::string xml_text(std::string_view text);

}  // namespace slipway
