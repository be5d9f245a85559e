// SPDX-License-Identifier: Apache-2.0
// plugins/driver/choose/version.hpp - the driver version that is taken from a source: the newest that the spec allows
// and that fits this host.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <slipway/inputs.hpp>

#include "driver/choose/choose.hpp"
#include "driver/choose/version_constraint.hpp"

namespace slipway::driver {

struct ChosenVersion {
  std::string version;             ///< in the packages' spelling
  std::vector<std::string> notes;  ///< why it was chosen, if the spec allows several
};

/// Tests whether a version fits this host; called only when all packages of the version are known, or those that the
/// lock pins. Errors: why it does not fit; `needs_catalogue` when the known packages cannot tell.
using TryVersion = std::function<Status(const std::string& version)>;

/// Reads only a registry's tag names and the packages of the candidate versions: a driver package's tag begins with its
/// version. Other tags are read when no version fits. Errors: `needs_catalogue` when more must be read (needs_tags());
/// `not_found` with the versions that exist, the nearest first; `invalid` the spec names no version and there are
/// several; the version's own error if only one is allowed.
Result<ChosenVersion> choose_version(const std::vector<Package>& packages, const Catalogue& catalogue,
                                     const VersionConstraint& constraint, const Wanted& wanted, const TryVersion& fits);

}  // namespace slipway::driver
