// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/driver_version.hpp - a driver version such as 535.261.03, compared field by field as numbers.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::nvidia {

/// `<branch>.<minor>[.<patch>]`. Versions with equal numbers are equal in any spelling ("535.261.3" and "535.261.03");
/// file names need NVIDIA's spelling, which text() keeps.
class DriverVersion {
 public:
  /// Empty when `text` is not a version: 2 or 3 fields of 1-4 digits, the branch at least 10, no other characters.
  static std::optional<DriverVersion> parse(std::string_view text);

  unsigned branch() const { return fields_[0]; }
  const std::string& text() const { return text_; }
  /// Branch, minor, patch; a missing patch is 0.
  const std::array<unsigned, 3>& fields() const { return fields_; }

  std::strong_ordering operator<=>(const DriverVersion& other) const { return fields_ <=> other.fields_; }
  bool operator==(const DriverVersion& other) const { return fields_ == other.fields_; }

 private:
  DriverVersion(std::array<unsigned, 3> fields, std::string text) : fields_(fields), text_(std::move(text)) {}
  std::array<unsigned, 3> fields_;
  std::string text_;
};

/// Compares for sorting; a text that is not a version comes before all versions.
bool version_less(std::string_view left, std::string_view right);

}  // namespace slipway::nvidia
