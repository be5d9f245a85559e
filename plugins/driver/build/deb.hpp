// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/deb.hpp - reads Debian packages: an ar archive of control.tar.* and data.tar.* (deb(5)).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::driver {

/// What a package says of itself.
struct DebInfo {
  std::string file;     ///< path of the .deb
  std::string package;  ///< "nvidia-smi"
  std::string version;  ///< "535.261.03-1"
  std::string architecture;
  std::vector<std::string> depends = {};            ///< names only, the first of each set of alternatives
  std::map<std::string, std::string> exactly = {};  ///< those of them that must be of one version: "(= 6.1.176-1)"
  std::uint64_t installed_bytes = 0;                ///< what its files take, as the package itself says

  /// The version without epoch and Debian's revision: "535.261.03".
  std::string upstream_version() const;
};

/// Errors: `not_found`; `corrupt` when it is no Debian package.
Result<DebInfo> read_deb_info(const std::string& file);

/// Says where a path of the package goes: a path below the target folder, or "" to leave it out. Paths are relative,
/// without "./" in front.
using DebPaths = std::function<std::string(const std::string& path)>;

/// Unpacks files, folders and symlinks; owners are not taken over, times are. Whatever leads out of `into`, devices and
/// setuid bits are refused, and so is what takes more than twice what the package says of itself and 64 MiB, or has
/// very many files. Errors: `corrupt`, `io`, `no_space`.
/// @param left_out  gets the files and links that `paths` leaves out; may be null
Status unpack_deb(const std::string& file, const std::string& into, const DebPaths& paths,
                  std::vector<std::string>* left_out = nullptr);

}  // namespace slipway::driver
