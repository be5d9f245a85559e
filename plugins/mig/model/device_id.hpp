// SPDX-License-Identifier: Apache-2.0
// plugins/mig/model/device_id.hpp - the PCI ids of a GPU as a config's device filter has them: "0x233010DE", with the
// board as well "0x20B210DE:0x146710DE".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <slipway/result.hpp>

namespace slipway::mig {

/// Each number has the device in its high half and the vendor in its low one.
struct DeviceId {
  std::uint32_t chip = 0;
  std::optional<std::uint32_t> board;  ///< the subsystem; in a filter without it every board fits

  auto operator<=>(const DeviceId&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0

  /// As a filter, it takes that GPU.
  bool takes(const DeviceId& gpu) const { return chip == gpu.chip && (!board || board == gpu.board); }
  /// "0x233010DE": of the chip alone.
  std::string chip_text() const;
  std::string text() const;
};

/// Numbers are read as Go reads them: 0x, 0o and 0b, a leading 0 is octal. Errors: `invalid`.
Result<DeviceId> parse_device_id(const std::string& text, const std::string& where);

}  // namespace slipway::mig
