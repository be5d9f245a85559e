// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/unit_words.hpp - paths in systemd's units (systemd.unit(5), systemd.syntax(7)).
#pragma once

#include <string>

namespace slipway::toolkit {

/// Escapes a whole line: % begins a specifier.
inline std::string unit_line(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

/// Escapes a word of a command or a list: words also end at blanks.
inline std::string unit_word(const std::string& path) {
  std::string word;
  for (const char c : unit_line(path)) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return path.find_first_of(" \t\"'\\;") == std::string::npos ? word : '"' + word + '"';
}

}  // namespace slipway::toolkit
