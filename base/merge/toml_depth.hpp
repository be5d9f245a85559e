// SPDX-License-Identifier: Apache-2.0
// base/merge/toml_depth.hpp - finds dotted keys that nest too deep: toml++ limits nested values, but makes
// a table for each part of a key, whose depth would overflow the stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace slipway::merge {

inline constexpr std::size_t kMostKeyParts = 32;

/// Skips a string that begins at `at`, with one or three quotes. @return the offset after it
inline std::size_t skip_toml_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool escapes = quote == '"';
  const bool three = text.size() - at >= 3 && text[at + 1] == quote && text[at + 2] == quote;
  const std::size_t quotes = three ? 3 : 1;
  for (at += quotes; at < text.size(); ++at) {
    if (escapes && text[at] == '\\') {
      ++at;
    } else if (!three && text[at] == '\n') {
      return at;
    } else if (text[at] == quote && !three) {
      return at + 1;
    } else if (text[at] == quote) {
      const std::size_t run = std::min(text.find_first_not_of(quote, at), text.size()) - at;
      if (run >= 3) return at + std::min<std::size_t>(run, 5);  // up to two quotes belong to the content (TOML 1.0)
      at += run - 1;
    }
  }
  return text.size();
}

/// Returns the position of a key with too many parts; npos if not found.
inline std::size_t find_deep_toml_key(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = skip_toml_string(text, at);
      continue;
    }
    if (c == '#') {
      at = text.find('\n', at);
      if (at == std::string_view::npos) break;
      continue;
    }
    if (c == '.') {
      if (++dots >= kMostKeyParts) return at;
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}') {
      dots = 0;
    }
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace slipway::merge
