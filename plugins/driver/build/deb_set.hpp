// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/deb_set.hpp - the Debian packages in a folder that a driver package is made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/build/deb.hpp"
#include "nvidia/flavour.hpp"

namespace slipway::driver {

/// The architecture of packages that every machine can use.
inline constexpr std::string_view kAnyMachine = "all";

/// One driver: every package of the same upstream version.
struct DriverDebs {
  std::string version;             ///< "535.261.03"
  std::string architecture;        ///< "amd64", in Debian's spelling
  std::vector<DebInfo> userspace;  ///< libraries and tools
  std::vector<DebInfo> firmware;   ///< at most one
  std::vector<DebInfo> source;     ///< exactly one: the DKMS package of the flavour
};

/// Every .deb in a folder, sorted by file name. Errors: `not_found` no such folder or none in it; `corrupt`.
Result<std::vector<DebInfo>> list_debs(const std::string& folder);

/// Selects the driver's packages. Errors: `not_found` a required package is missing (the text says which, and where to
/// find it); `conflict` the packages have several versions, which NVIDIA's libraries do not support.
Result<DriverDebs> choose_driver_debs(const std::vector<DebInfo>& debs, nvidia::Flavour flavour);

/// Returns the headers of a kernel with all packages of the list that they need: common headers, kbuild, compiler.
/// Errors: `not_found`, with the package and the releases that have headers.
Result<std::vector<DebInfo>> choose_header_debs(const std::vector<DebInfo>& debs, const std::string& kernel_release);

/// "x86_64" for "amd64".
std::string machine_of(const std::string& debian_architecture);

}  // namespace slipway::driver
