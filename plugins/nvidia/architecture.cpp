// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {
namespace {

struct IdRange {
  std::uint16_t first;
  std::uint16_t last;
  Architecture architecture;
  std::string_view capability = {};  ///< compute capability, if it is known and the same for the whole range
};

// A range ends where the next chip's block begins, so that later boards of a known chip fall into it too. Sorted.
constexpr std::array kRanges{
    IdRange{0x0000, 0x0f9f, Architecture::fermi_or_older},
    IdRange{0x0fa0, 0x103f, Architecture::kepler},
    IdRange{0x1040, 0x117f, Architecture::fermi_or_older},
    IdRange{0x1180, 0x11ff, Architecture::kepler},
    IdRange{0x1200, 0x127f, Architecture::fermi_or_older},
    IdRange{0x1280, 0x133f, Architecture::kepler},
    IdRange{0x1340, 0x13bf, Architecture::maxwell, "5.0"},
    IdRange{0x13c0, 0x143f, Architecture::maxwell, "5.2"},
    IdRange{0x1440, 0x15bf, Architecture::maxwell},
    IdRange{0x15c0, 0x15ef, Architecture::pascal},
    IdRange{0x15f0, 0x15ff, Architecture::pascal, "6.0"},
    IdRange{0x1600, 0x166f, Architecture::maxwell, "5.2"},
    IdRange{0x1670, 0x171f, Architecture::maxwell},
    IdRange{0x1720, 0x173f, Architecture::pascal},
    IdRange{0x1740, 0x17bf, Architecture::maxwell},
    IdRange{0x17c0, 0x17ff, Architecture::maxwell, "5.2"},
    IdRange{0x1b00, 0x1d7f, Architecture::pascal, "6.1"},
    IdRange{0x1d80, 0x1dff, Architecture::volta, "7.0"},
    IdRange{0x1e00, 0x1fff, Architecture::turing, "7.5"},
    IdRange{0x2080, 0x20ff, Architecture::ampere, "8.0"},
    IdRange{0x2180, 0x21ff, Architecture::turing, "7.5"},
    IdRange{0x2200, 0x227f, Architecture::ampere, "8.6"},
    IdRange{0x2300, 0x23ff, Architecture::hopper, "9.0"},
    IdRange{0x2400, 0x25ff, Architecture::ampere, "8.6"},
    IdRange{0x2680, 0x28ff, Architecture::ada, "8.9"},
    IdRange{0x2900, 0x297f, Architecture::blackwell, "10.0"},
    IdRange{0x2980, 0x2b7f, Architecture::blackwell},
    IdRange{0x2b80, 0x2dff, Architecture::blackwell, "12.0"},
    IdRange{0x2e00, 0x2f7f, Architecture::blackwell},
    IdRange{0x3000, 0x30ff, Architecture::rubin},
    IdRange{0x3180, 0x31ff, Architecture::blackwell, "10.3"},
    IdRange{0x3200, 0x33ff, Architecture::blackwell},
    IdRange{0x3400, 0xffff, Architecture::newer},
};

struct Row {
  Architecture architecture;
  std::string_view name;
  ArchitectureSupport support;
};

// The open modules began with 515 and need the GSP, which Turing brought. 470 and 580 are the last branches for the
// architectures that they are listed with; see "Supported GPUs" in the driver's README of each branch.
constexpr std::array kRows{
    Row{Architecture::fermi_or_older, "fermi-or-older", {0, 390, 0, false}},
    Row{Architecture::kepler, "kepler", {304, 470, 0, false}},
    Row{Architecture::maxwell, "maxwell", {331, 580, 0, false}},
    Row{Architecture::pascal, "pascal", {367, 580, 0, false}},
    Row{Architecture::volta, "volta", {384, 580, 0, false}},
    Row{Architecture::turing, "turing", {410, 0, 515, false}},
    Row{Architecture::ampere, "ampere", {450, 0, 515, false}},
    Row{Architecture::ada, "ada", {520, 0, 520, false}},
    Row{Architecture::hopper, "hopper", {520, 0, 520, false}},
    Row{Architecture::blackwell, "blackwell", {570, 0, 570, true}},
    // Not in the table of 595.45.04 yet; everything since Blackwell requires the open modules.
    Row{Architecture::rubin, "rubin", {0, 0, 570, true}},
    Row{Architecture::newer, "newer", {0, 0, 570, true}},
    Row{Architecture::unknown, "unknown", {0, 0, 0, false}},
};

/// Null: the id is in a gap of the table.
const IdRange* range_of(std::uint16_t device_id) {
  const auto after = std::ranges::upper_bound(kRanges, device_id, {}, &IdRange::first);
  const IdRange& range = *std::prev(after);  // the first range begins at 0
  return device_id <= range.last ? &range : nullptr;
}

}  // namespace

std::string_view to_string(Architecture architecture) {
  return std::ranges::find(kRows, architecture, &Row::architecture)->name;
}

std::optional<Architecture> parse_architecture(std::string_view text) {
  const auto row = std::ranges::find(kRows, text, &Row::name);
  if (row == kRows.end()) return std::nullopt;
  return row->architecture;
}

Architecture architecture_of(std::uint16_t device_id) {
  const IdRange* const range = range_of(device_id);
  return range != nullptr ? range->architecture : Architecture::unknown;
}

std::string compute_capability_of(std::uint16_t device_id) {
  const IdRange* const range = range_of(device_id);
  return range != nullptr ? std::string(range->capability) : std::string();
}

ArchitectureSupport support_of(Architecture architecture) {
  return std::ranges::find(kRows, architecture, &Row::architecture)->support;
}

}  // namespace slipway::nvidia
