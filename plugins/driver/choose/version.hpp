// SPDX-License-Identifier: Apache-2.0
// plugins/driver/choose/version.hpp - which driver version of a source is taken: the newest that the spec allows and
// that fits this host.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <slipway/inputs.hpp>

#include "driver/choose/choose.hpp"
#include "driver/choose/version_constraint.hpp"

namespace slipway::driver {

struct ChosenVersion {
  std::string version;             ///< as the packages spell it
  std::vector<std::string> notes;  ///< why this one, where the spec left a choice
};

/// Whether a version fits this host; it is asked only when all of its packages are known, or the lock's are.
/// Errors: why it does not; `needs_catalogue` when the packages known do not tell.
using TryVersion = std::function<Status(const std::string& version)>;

/// Of a registry only the tags' names and the packages of the versions in question are read: a driver package's tag
/// begins with its version. Other tags are looked at when no version fits.
/// Errors: `needs_catalogue` when more must be read (needs_tags()); `not_found` with what there is, the nearest first;
/// `invalid` the spec names no version and there are several; the version's own error when only one is allowed.
Result<ChosenVersion> choose_version(const std::vector<Package>& packages, const Catalogue& catalogue,
                                     const VersionConstraint& constraint, const Wanted& wanted, const TryVersion& fits);

}  // namespace slipway::driver
