// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <unistd.h>

#include <slipway/text.hpp>
#include <slipway/text/display.hpp>

namespace slipway {

bool shows_colour(int descriptor) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (none == nullptr || *none == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

std::string folded(std::string_view text, std::size_t width, std::size_t indent, std::size_t first) {
  std::string lines;
  std::size_t column = first;
  bool begins = true;
  for (const std::string_view word : split<std::string_view>(text, ' ')) {
    const std::size_t gap = begins ? 0 : 1;
    if (column + gap + width_of(word) > width && (!begins || column > indent)) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else {
      lines.append(gap, ' ');
      column += gap;
    }
    begins = false;
    lines += word;
    column += width_of(word);
  }
  return lines + '\n';
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return escaped;
}

}  // namespace slipway
