// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <slipway/service/metrics.hpp>

namespace slipway {
namespace {

/// Puts a backslash before `special` letters and backslashes; a line break becomes \n. A byte that is not UTF-8 becomes
/// U+FFFD, since Prometheus rejects a whole page for it.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  while (!text.empty()) {
    const char letter = text.front();
    const std::size_t bytes = letter == '\0' ? 0 : utf8_character_size(text);
    if (letter == '\\' || special.find(letter) != std::string_view::npos) result += '\\';
    if (letter == '\n')
      result += "\\n";
    else
      result += bytes == 0 ? "\xef\xbf\xbd" : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

}  // namespace

std::size_t utf8_character_size(std::string_view text) {
  const auto byte = [text](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return text.empty() ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  // The second byte tells whether the number is overlong, half of a UTF-16 pair, or beyond the last character.
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (first < 0xc2 || first > 0xf4 || second < least || second > most) return 0;
  for (std::size_t at = 2; at < length; ++at)
    if ((byte(at) & 0xc0U) != 0x80U) return 0;
  return length;
}

void MetricsText::begin(std::string_view name, std::string_view help, std::string_view type) {
  name_ = name;
  text_ += "# HELP " + name_ + " " + escaped(help, "") + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
}

std::string MetricsText::rendered(const Labels& labels) {
  std::string list;
  for (const auto& [label, what] : labels)
    list.append(list.empty() ? "{" : ",").append(label).append("=\"").append(escaped(what, "\"")).append("\"");
  return list.empty() ? list : list + "}";
}

void MetricsText::sample_rendered(std::string_view labels, std::string_view value) {
  text_.append(name_).append(labels).append(" ").append(value).append("\n");
}

std::string MetricsText::real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace slipway
