// SPDX-License-Identifier: Apache-2.0
// plugins/driver/choose/version_constraint.hpp - the driver versions that a spec allows: one, a branch, a range, or the
// latest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvidia/driver_version.hpp"

namespace slipway::driver {

/// The grammar, which docs/components/driver.md shows:
///   constraint = "latest" | version | 1*bound
///   bound = ( ">=" | ">" | "<=" | "<" | "!=" ) version, with blanks as you like; all must hold
///   version = 1 to 3 numbers, joined by dots
/// A version is compared by as many numbers as are written: "535" and "<=535" take in 535.261.03, ">535" does not.
class VersionConstraint {
 public:
  /// Returns nothing when the text is not a constraint. An empty text requests the only existing version, and allows
  /// any.
  static std::optional<VersionConstraint> parse(std::string_view text);

  bool allows(const nvidia::DriverVersion& version) const;
  bool allows(std::string_view version) const;
  /// True when the constraint names one version completely, or no version: there is no choice.
  bool is_exact() const;
  bool is_empty() const { return text_.empty(); }
  /// Returns the text as it was written.
  const std::string& text() const { return text_; }

  /// Sorts the versions, those nearest to the constraint first; the newest first if the constraint has no number.
  std::vector<std::string> nearest_first(std::vector<std::string> versions) const;

 private:
  enum class Is { equal, at_least, above, at_most, below, other };
  struct Bound {
    Is is = Is::equal;
    std::vector<unsigned> fields;

    bool holds(const nvidia::DriverVersion& version) const;
  };
  static std::optional<Bound> parse_bound(std::string_view text);

  std::string text_;
  std::vector<Bound> bounds_;
};

}  // namespace slipway::driver
