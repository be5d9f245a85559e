// SPDX-License-Identifier: Apache-2.0
#include "nvidia/driver_version.hpp"

#include <charconv>

namespace slipway::nvidia {
namespace {

constexpr unsigned kSmallestBranch = 10;
constexpr std::size_t kMaxDigits = 4;

// Reads a field of digits only; std::from_chars alone would accept "5x" as 5.
std::optional<unsigned> parse_field(std::string_view text) {
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<DriverVersion> DriverVersion::parse(std::string_view text) {
  std::array<unsigned, 3> fields{};
  std::size_t count = 0;
  std::string_view rest = text;
  while (true) {
    const auto dot = rest.find('.');
    const auto field = parse_field(rest.substr(0, dot));
    if (!field || count == fields.size()) return std::nullopt;
    fields[count++] = *field;
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (count < 2 || fields[0] < kSmallestBranch) return std::nullopt;
  return DriverVersion{fields, std::string{text}};
}

bool version_less(std::string_view left, std::string_view right) {
  const auto a = DriverVersion::parse(left);
  const auto b = DriverVersion::parse(right);
  if (a && b && *a != *b) return *a < *b;
  if (a.has_value() != b.has_value()) return b.has_value();
  return left < right;
}

}  // namespace slipway::nvidia
