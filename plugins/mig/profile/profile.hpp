// SPDX-License-Identifier: Apache-2.0
// plugins/mig/profile/profile.hpp - the name of a MIG profile: "1g.10gb", "1c.3g.40gb", "1g.24gb+me.all", "2g.48gb-me".
//
//   profile   = [ C "c." ] G "g." GB "gb" [ ("+" | "-") attribute { "," attribute } ]
//   attribute = letters, digits and dots; it begins with a letter and does not end with a dot
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::mig {

/// Two names of the same profile ("1c.1g.5gb" and "1g.5gb") give equal values.
struct Profile {
  unsigned gpu_slices = 0;      ///< G
  unsigned memory_gb = 0;       ///< GB: a rounded share of the GPU's memory; 0 if GPU and processor share their memory
  unsigned compute_slices = 0;  ///< C: equal to G if the name has no C
  char sign = 0;                ///< '+' or '-' before the attributes; 0: there are none
  std::vector<std::string> attributes;  ///< sorted, each once

  auto operator<=>(const Profile&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0

  /// The canonical name.
  std::string text() const;
  /// Returns the profile of the GPU instance that such a device is part of: with C = G.
  Profile gpu_instance() const;
  /// True when its compute instance is as large as its GPU instance.
  bool is_whole() const { return compute_slices == gpu_slices; }
};

/// Does not check whether the GPU has such a profile. Errors: `invalid`, with the rule that the name breaks.
Result<Profile> parse_profile(std::string_view text, const std::string& where);

}  // namespace slipway::mig
