// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/health/detail.cpp - the text after an XID's number.
#include <algorithm>
#include <array>
#include <charconv>

#include "nvidia/health/rules.hpp"

namespace slipway::nvidia::health {
namespace {

constexpr unsigned kNewForm = 575;  // first driver branch with the new numbers of units

/// Returns the number directly behind `mark`.
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
  const std::string_view name = text.substr(0, text.find(' '));
  const auto named = std::ranges::find(rule.units, name, &NvlinkUnit::name);
  const auto unit =
      named != rule.units.end() || driver_branch == 0
          ? named
          : std::ranges::find(rule.units, number, new_form ? &NvlinkUnit::from_r575 : &NvlinkUnit::before_r575);
  if (unit == rule.units.end()) return std::nullopt;
  NvlinkDetail detail{.unit = unit->name, .sub_code = bits(*info, 20, 6)};
  detail.link = number_behind(text.substr(0, open), "Link ", 10);
  detail.needs_reset =
      (unit->always_resets || unit->resets.contains(*status)) && !unit->sub_codes_without.contains(detail.sub_code);
  return detail;
}

std::optional<unsigned> read_recovery_action(std::string_view text) {
  const auto number = number_behind(text, " to 0x", 16);
  return number ? std::optional<unsigned>(*number) : std::nullopt;
}

RecoveryAction recovery_action(unsigned number) {
  switch (number) {  // nvmlDeviceGpuRecoveryAction_t
    case 0:
      return {"the driver asks for no recovery action", "no action is needed"};
    case 1:
      return {"the driver asks for a reset of the GPU",
              "drain the node and reset the GPU (`slipway pause -- nvidia-smi -r -i UUID`), or reboot"};
    case 2:
      return {"the driver asks for a reboot of the node", "drain the node and reboot it"};
    case 3:
      return {"the driver asks to end the traffic between this GPU and others",
              "drain the node; when the jobs that exchange data with this GPU have ended, check the GPU again"};
    case 4:
      return {"the driver asks for a reset of the GPU when its jobs have ended",
              "drain the node, and reset the GPU when its jobs have ended (`slipway pause -- nvidia-smi -r -i UUID`)"};
    default:
      return {"the driver asks for a recovery action that slipway does not know",
              "see what the driver asks for (`nvidia-smi -q`, GPU Recovery Action) and do that"};
  }
}

}  // namespace slipway::nvidia::health
