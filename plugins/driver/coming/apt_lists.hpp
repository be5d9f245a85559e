// SPDX-License-Identifier: Apache-2.0
// plugins/driver/coming/apt_lists.hpp - the kernel packages in apt's lists and in dpkg's status, and the version of
// each that apt would take.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

#include "driver/coming/list_reader.hpp"

namespace slipway::driver {

/// A version of a package, in a list or installed.
struct DebPackage {
  std::string name;
  std::string version;
  std::string arch;
  std::string status;                ///< "install ok installed", in dpkg's status alone
  std::vector<std::string> depends;  ///< names, the first of each alternative
};

/// Reads one entry of Packages or of dpkg's status. Fields that it lacks stay empty.
DebPackage deb_package_from(std::string_view entry);

/// True for linux-image-… and linux-headers-….
bool is_kernel_package(std::string_view name);

/// Where a list comes from: its Release file, and the name of its own file.
struct ListOrigin {
  std::string host;                           ///< "deb.debian.org"
  std::map<std::string, std::string> fields;  ///< "a" (suite), "n" (codename), "o", "l", "v", "c" as in Pin: release
  bool not_automatic = false;
  bool but_automatic_upgrades = false;

  /// Returns the priority without pins: 500, or 100 and 1 for such origins as backports and experimental.
  int priority() const;
};
/// @param release    text of InRelease or Release; may be empty
/// @param list_name  name of the list's file
ListOrigin list_origin_from(std::string_view release, std::string_view list_name);

/// A stanza of apt's preferences.
struct AptPin {
  std::vector<std::string> names;  ///< globs
  std::string kind;                ///< "version", "release", "origin"
  std::string pattern;
  int priority = 0;

  bool fits(const DebPackage& package, const ListOrigin& origin) const;
};
/// @param problems  gets a sentence for each stanza that is not followed
std::vector<AptPin> apt_pins_from(std::string_view text, const std::string& file, std::vector<std::string>& problems);

/// A version that is in a list.
struct Offered {
  DebPackage package;
  std::string list;  ///< file
  int priority = 0;
};

struct AptLists {
  std::map<std::string, std::vector<Offered>> offered;  ///< kernel packages by name
  std::map<std::string, DebPackage> installed;          ///< kernel packages, from dpkg's status
  std::vector<std::string> files;                       ///< that were read
  std::vector<std::string> problems;                    ///< sentences

  /// Returns the version that apt would have after an upgrade; null: the installed one, or none.
  const Offered* candidate(const std::string& name) const;
};

/// Reads the lists for the root's architecture. Errors: `corrupt` a list or the status; those of Host::read().
Result<AptLists> read_apt_lists(const Host& host, const ListLimits& limits);

}  // namespace slipway::driver
