// SPDX-License-Identifier: Apache-2.0
// plugins/mig/model/device_id.hpp - the PCI ids of a GPU in the form of a config's device filter: "0x233010DE", with
// the board "0x20B210DE:0x146710DE".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/result.hpp>

namespace slipway::mig {

/// Each number has the device in its high half and the vendor in the low one.
struct DeviceId {
  std::uint32_t chip = 0;
  std::optional<std::uint32_t> board;  ///< the subsystem; a filter without it matches every board

  auto operator<=>(const DeviceId&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0

  /// True when this filter matches that GPU.
  bool takes(const DeviceId& gpu) const { return chip == gpu.chip && (!board || board == gpu.board); }
  /// Returns "0x233010DE", for the chip alone.
  std::string chip_text() const;
  std::string text() const;
};

/// Reads numbers in Go's syntax: 0x, 0o and 0b; a leading 0 is octal. Errors: `invalid`.
Result<DeviceId> parse_device_id(const std::string& text, const std::string& where);

}  // namespace slipway::mig
