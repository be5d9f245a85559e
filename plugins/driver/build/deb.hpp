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

/// The metadata of a package.
struct DebInfo {
  std::string file;     ///< path of the .deb
  std::string package;  ///< "nvidia-smi"
  std::string version;  ///< "535.261.03-1"
  std::string architecture;
  std::vector<std::string> depends = {};            ///< names only, the first of each set of alternatives
  std::map<std::string, std::string> exactly = {};  ///< those with an exact version: "(= 6.1.176-1)"
  std::uint64_t installed_bytes = 0;                ///< size of its files, as the package declares it

  /// The version without epoch and Debian's revision: "535.261.03".
  std::string upstream_version() const;
};

/// Errors: `not_found`; `corrupt` when it is not a Debian package.
Result<DebInfo> read_deb_info(const std::string& file);

/// Maps a path of the package to a path below the target folder, or to "" to leave it out. Paths are relative, without
/// a leading "./".
using DebPaths = std::function<std::string(const std::string& path)>;

/// Unpacks files, folders and symlinks; times are kept, owners are not. Rejects paths that lead out of `into`, devices,
/// setuid bits, more data than twice the declared size plus 64 MiB, and very many files. Errors: `corrupt`, `io`,
/// `no_space`.
/// @param left_out  receives the files and links that `paths` leaves out; may be null
Status unpack_deb(const std::string& file, const std::string& into, const DebPaths& paths,
                  std::vector<std::string>* left_out = nullptr);

}  // namespace slipway::driver
