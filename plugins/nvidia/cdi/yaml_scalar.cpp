// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include <slipway/json.hpp>

#include "nvidia/cdi/text.hpp"

namespace slipway::nvidia::cdi {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True for words that YAML 1.1 does not read as text, in lower case; any mix of upper and lower case is quoted too.
bool is_word(std::string_view scalar) {
  constexpr std::array<std::string_view, 17> kWords{"",  "~", "null", "true", "false", "yes",   "no", "on", "off",
                                                    "y", "n", ".nan", ".inf", "-.inf", "+.inf", "<<", "="};
  std::string lower(scalar);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kWords, lower) != kWords.end();
}

void skip_digits(std::string_view& rest) {
  while (!rest.empty() && (is_digit(rest.front()) || rest.front() == '_')) rest.remove_prefix(1);
}

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

/// True for the rest of "1:0" or "12:30:59.5": base 60. `rest` starts with the first colon.
bool is_base_60(std::string_view rest) {
  while (!rest.empty() && rest.front() == ':') {
    rest.remove_prefix(1);
    if (rest.size() >= 2 && rest[0] <= '5' && is_digit(rest[0]) && is_digit(rest[1]))
      rest.remove_prefix(2);
    else if (!rest.empty() && is_digit(rest[0]))
      rest.remove_prefix(1);
    else
      return false;
  }
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    skip_digits(rest);
  }
  return rest.empty();
}

bool is_number(std::string_view rest) {
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  if (rest.starts_with("0x")) return all_of(rest.substr(2), "0123456789abcdefABCDEF_");
  if (rest.starts_with("0o") || rest.starts_with("0b")) return all_of(rest.substr(2), "01234567_");
  if (rest.empty() || !(is_digit(rest.front()) || (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]))))
    return false;
  skip_digits(rest);
  if (!rest.empty() && rest.front() == ':') return is_base_60(rest);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    skip_digits(rest);
  }
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    rest.remove_prefix(1);
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
    return all_of(rest, "0123456789");
  }
  return rest.empty();
}

/// True for "2026-01-31", alone or followed by a time.
bool is_time_stamp(std::string_view scalar) {
  if (scalar.size() < 8 || !all_of(scalar.substr(0, 4), "0123456789") || scalar[4] != '-') return false;
  std::string_view rest = scalar.substr(5);
  for (const bool last : {false, true}) {
    std::size_t digits = 0;
    while (digits < 2 && digits < rest.size() && is_digit(rest[digits])) ++digits;
    if (digits == 0) return false;
    rest.remove_prefix(digits);
    if (last) break;
    if (!rest.starts_with('-')) return false;
    rest.remove_prefix(1);
  }
  return rest.empty() || rest.front() == 't' || rest.front() == 'T' || rest.front() == ' ' || rest.front() == '\t';
}

bool may_be_plain(std::string_view text) {
  constexpr std::string_view kIndicators = ",[]{}#&*!|>'\"%@`";
  constexpr std::string_view kInnerIndicators = "-?:";
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  if (kIndicators.find(text.front()) != std::string_view::npos) return false;
  if (kInnerIndicators.find(text.front()) != std::string_view::npos && (text.size() == 1 || text[1] == ' '))
    return false;
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

bool has_special_bytes(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
}

}  // namespace

bool reads_as_other_than_text(std::string_view scalar) {
  return is_word(scalar) || is_number(scalar) || is_time_stamp(scalar);
}

std::string yaml_text(std::string_view text) {
  // A JSON string is a double-quoted scalar of YAML.
  if (has_special_bytes(text) || reads_as_other_than_text(text))
    return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (may_be_plain(text)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace slipway::nvidia::cdi
