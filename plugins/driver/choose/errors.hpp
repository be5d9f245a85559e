// SPDX-License-Identifier: Apache-2.0
// plugins/driver/choose/errors.hpp - the errors of choosing a package: the request, the existing packages, and the
// remedy.
#pragma once

#include <string>
#include <vector>

#include "driver/choose/choose.hpp"

namespace slipway::driver {

Error nothing_there(const Wanted& wanted);
Error several_versions(const Wanted& wanted, const std::vector<std::string>& versions);
/// @param versions  all versions, the nearest first
/// @param told      those whose packages are listed
Error no_such_version(const std::vector<Package>& packages, const Wanted& wanted,
                      const std::vector<std::string>& versions, const std::vector<std::string>& told);
/// The error if the spec allows several versions. @param reasons  for each, "VERSION: why it does not fit"
Error no_version_fits(const std::vector<Package>& packages, const Wanted& wanted,
                      const std::vector<std::string>& reasons, const std::vector<std::string>& told);
/// @param source  the source package that policy does not allow to compile, or null
Error no_package(const std::vector<Package>& packages, const Wanted& wanted, const Package* source);
Error known_not_to_compile(const std::vector<Package>& packages, const Wanted& wanted, const std::string& failure);

/// Returns the kernels with a package of that driver, the nearest first: "A, B and 3 more"; empty: none has one.
std::string nearest_kernels(const std::vector<Package>& packages, const Wanted& wanted);

/// Adds a "found" line for each kind of package, the kernels nearest to the wanted one first.
void add_existing_packages(const std::vector<Package>& packages, const Wanted& wanted, Error& error);

}  // namespace slipway::driver
