// SPDX-License-Identifier: Apache-2.0
#include "base/yaml/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace slipway::base {
namespace {

constexpr bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::string hex(unsigned char byte) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "0x%02x", static_cast<unsigned>(byte));
  return text.data();
}

/// Returns the length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), 0 if not found.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  const unsigned second = byte(at + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;  // overlong; surrogates
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;  // overlong; beyond U+10FFFF
  return length;
}

}  // namespace

TextLines::TextLines(std::string_view text) : text_(text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines_.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::string_view TextLines::line(std::size_t number) const {
  return number < lines_.size() ? lines_[number] : std::string_view{};
}

Position TextLines::position(int line, int byte_column) const {
  if (line < 0 || byte_column < 0) return {};
  const std::string_view before =
      this->line(static_cast<std::size_t>(line)).substr(0, static_cast<std::size_t>(byte_column));
  const auto inner = std::count_if(before.begin(), before.end(), is_continuation);
  return {line + 1, byte_column + 1 - static_cast<int>(inner)};
}

Position TextLines::position_of(std::size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return position(static_cast<int>(std::count(before.begin(), before.end(), '\n')),
                  static_cast<int>(before.size() - begin));
}

std::size_t TextLines::offset(int line, int byte_column) const {
  if (line < 0 || byte_column < 0 || static_cast<std::size_t>(line) >= lines_.size()) return text_.size();
  const auto begin = static_cast<std::size_t>(lines_[static_cast<std::size_t>(line)].data() - text_.data());
  return std::min(begin + static_cast<std::size_t>(byte_column), text_.size());
}

std::optional<BadByte> find_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0) return BadByte{at, "byte " + hex(byte) + " is not UTF-8"};
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F)
      return BadByte{at, "the control character " + hex(byte) + " is not allowed in YAML"};
    at += length;
  }
  return std::nullopt;
}

std::string_view indentation(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

}  // namespace slipway::base
