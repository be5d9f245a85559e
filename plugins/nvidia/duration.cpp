// SPDX-License-Identifier: Apache-2.0
#include "nvidia/duration.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace slipway::nvidia {
namespace {

/// Returns the nanoseconds of one unit; 0: not a unit.
double unit_of(std::string_view name) {
  if (name == "ns") return 1;
  if (name == "us" || name == "\xc2\xb5s") return 1e3;
  if (name == "ms") return 1e6;
  if (name == "s") return 1e9;
  if (name == "m") return 6e10;
  return name == "h" ? 3.6e12 : 0;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  constexpr auto kLongest = static_cast<double>(kLongestDuration.count());
  double nanoseconds = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double amount = 0;
    const auto [end, problem] =
        std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (problem != std::errc{} || !(amount >= 0 && amount < kLongest)) return std::nullopt;  // also rejects "nan"
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
    if (unit_of(name) == 0) return std::nullopt;
    nanoseconds += amount * unit_of(name);
    text.remove_prefix(name.size());
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(nanoseconds, kLongest)));
}

std::string duration_text(std::chrono::milliseconds length) {
  constexpr std::int64_t kSecond = 1000;
  constexpr std::int64_t kMinute = 60 * kSecond;
  const std::int64_t rest = length.count() % kMinute;
  std::string text;
  if (length.count() >= kMinute) text = std::to_string(length.count() / kMinute) + "m";
  if (rest % kSecond != 0) return text + std::to_string(rest) + "ms";
  return rest == 0 && !text.empty() ? text : text + std::to_string(rest / kSecond) + "s";
}

}  // namespace slipway::nvidia
