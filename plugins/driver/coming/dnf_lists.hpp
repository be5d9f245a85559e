// SPDX-License-Identifier: Apache-2.0
// plugins/driver/coming/dnf_lists.hpp - the kernel packages in the metadata that dnf keeps (primary.xml).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "driver/coming/list_reader.hpp"

namespace slipway::driver {

/// A package of primary.xml.
struct RpmPackage {
  std::string name;
  std::string arch;
  std::string epoch;
  std::string version;
  std::string release;
  std::string list;  ///< file

  /// "5.14.0-503.el9.x86_64", as the kernel calls itself
  std::string kernel_release() const { return version + "-" + release + "." + arch; }
};

/// Reads an entry of primary.xml, which ends before "</package>"; nothing when it is not a package with a name, a
/// version and an architecture of plain characters.
std::optional<RpmPackage> rpm_package_from(std::string_view entry);

bool is_newer(const RpmPackage& one, const RpmPackage& other);

struct DnfLists {
  std::vector<RpmPackage> packages;   ///< kernels and their -devel
  std::vector<std::string> files;     ///< that were read
  std::vector<std::string> problems;  ///< sentences
};

/// Reads the metadata of dnf 4 and 5 for enabled repositories, without packages that dnf.conf excludes. Errors:
/// `corrupt`; those of Host::read().
Result<DnfLists> read_dnf_lists(const Host& host, const ListLimits& limits);

}  // namespace slipway::driver
