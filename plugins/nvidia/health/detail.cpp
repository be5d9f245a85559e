// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/detail.cpp - what the text behind an XID's number says.
#include <array>
#include <charconv>

#include "nvidia/health/rules.hpp"

namespace slipway::nvidia::health {
namespace {

constexpr unsigned kNewForm = 575;  // the driver branch that numbers the units anew

/// The number right behind `mark`.
std::optional<std::uint32_t> number_behind(std::string_view text, std::string_view mark, int base) {
  const std::size_t found = text.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  text.remove_prefix(found + mark.size());
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return problem == std::errc{} ? std::optional(value) : std::nullopt;
}

unsigned bits(std::uint32_t value, unsigned from, unsigned count) { return (value >> from) & ((1U << count) - 1U); }

}  // namespace

std::optional<NvlinkDetail> read_nvlink_detail(const XidRule& rule, std::string_view text, unsigned driver_branch) {
  const std::size_t open = text.find("(0x");
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view words = text.substr(open);
  const auto info = number_behind(words, "(0x", 16);
  const auto status = number_behind(words, " 0x", 16);
  if (!info || !status) return std::nullopt;
  const bool new_form = driver_branch >= kNewForm;
  const unsigned number = new_form ? bits(*info, 0, 7) : bits(*info, 5, 5);
  for (const NvlinkUnit& unit : rule.units) {
    if ((new_form ? unit.from_r575 : unit.before_r575) != number) continue;
    NvlinkDetail detail{.unit = unit.name, .sub_code = bits(*info, 20, 6)};
    detail.link = number_behind(text.substr(0, open), "Link ", 10).value_or(0);
    detail.needs_reset =
        (unit.always_resets || unit.resets.contains(*status)) && !unit.sub_codes_without.contains(detail.sub_code);
    return detail;
  }
  return std::nullopt;
}

std::optional<unsigned> read_recovery_action(std::string_view text) {
  const auto number = number_behind(text, " to 0x", 16);
  return number ? std::optional<unsigned>(*number) : std::nullopt;
}

}  // namespace slipway::nvidia::health
