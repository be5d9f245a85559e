// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "nvidia/gpu.hpp"
#include "nvidia/gpu_rows.hpp"

namespace slipway::nvidia {
namespace {

struct Name {
  Architecture architecture;
  std::string_view name;
};

constexpr std::array kNames{
    Name{Architecture::fermi_or_older, "fermi-or-older"},
    Name{Architecture::kepler, "kepler"},
    Name{Architecture::maxwell, "maxwell"},
    Name{Architecture::pascal, "pascal"},
    Name{Architecture::volta, "volta"},
    Name{Architecture::turing, "turing"},
    Name{Architecture::ampere, "ampere"},
    Name{Architecture::ada, "ada"},
    Name{Architecture::hopper, "hopper"},
    Name{Architecture::blackwell, "blackwell"},
    Name{Architecture::rubin, "rubin"},
    Name{Architecture::newer, "newer"},
    Name{Architecture::unknown, "unknown"},
};

/// Null: the id is in a gap of the table.
const ChipRow* chip_of(std::uint16_t device_id) {
  const ChipRow* smallest = nullptr;
  for (const ChipRow& row : kChipRows)
    if (row.first <= device_id && device_id <= row.last &&
        (smallest == nullptr || row.last - row.first < smallest->last - smallest->first))
      smallest = &row;
  return smallest;
}

}  // namespace

std::string_view to_string(Architecture architecture) {
  return std::ranges::find(kNames, architecture, &Name::architecture)->name;
}

std::optional<Architecture> parse_architecture(std::string_view text) {
  const auto name = std::ranges::find(kNames, text, &Name::name);
  if (name == kNames.end()) return std::nullopt;
  return name->architecture;
}

Architecture architecture_of(std::uint16_t device_id) {
  const ChipRow* const chip = chip_of(device_id);
  return chip != nullptr ? parse_architecture(chip->architecture).value_or(Architecture::newer) : Architecture::unknown;
}

std::string compute_capability_of(std::uint16_t device_id) {
  const ChipRow* const chip = chip_of(device_id);
  return chip != nullptr ? std::string(chip->compute) : std::string();
}

ArchitectureSupport support_of(Architecture architecture) {
  const auto row = std::ranges::find(kArchitectureRows, to_string(architecture), &ArchitectureRow::name);
  return row != kArchitectureRows.end() ? row->support : ArchitectureSupport{.known = false};
}

}  // namespace slipway::nvidia
