// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/loader/schema/types.hpp"

namespace slipway::core {
namespace {

bool all_digits(std::string_view text) {
  for (const char c : text)
    if (c < '0' || c > '9') return false;
  return !text.empty();
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with("-") || text.starts_with("+")) text.remove_prefix(1);
  return text;
}

}  // namespace

bool has_leading_zero(const std::string& text) {
  const std::string_view digits = without_sign(text);
  return digits.size() > 1 && digits.front() == '0' && all_digits(digits);
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
  if (!all_digits(without_sign(text)) || has_leading_zero(text)) return std::nullopt;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_decimal(const std::string& text) {
  const std::string_view digits = without_sign(text);
  if (digits.empty() || digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  if (digits.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e' && digits[1] != 'E')
    return std::nullopt;
  if (all_digits(digits)) return std::nullopt;  // an integer too large for 64 bits would lose digits
  double number = 0;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<bool> other_boolean(const std::string& text) {
  std::string word;
  for (const char c : text) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word == "yes" || word == "on" || word == "true" || word == "y") return true;
  if (word == "no" || word == "off" || word == "false" || word == "n") return false;
  return std::nullopt;
}

}  // namespace slipway::core
