// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/libraries.hpp - finds the driver's libraries below a driver root, and what they are called.
//
// Format: glibc's sysdeps/generic/dl-cache.h. A header of the old format with its entries may stand in front.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "toolkit/environment.hpp"

namespace slipway::toolkit {

/// A file that a search found.
struct Found {
  std::string path;  ///< where it was found, in the driver root
  std::string real;  ///< behind all links
};

/// Finds libraries by a pattern on their file names. Looks into each folder once.
class LibrarySearch {
 public:
  /// @param folders  instead of the usual library folders; empty: those
  LibrarySearch(const Host& driver, std::vector<std::string> folders);

  /// Files whose name fits the pattern (fnmatch), each once, in the order of the folders; when no folder has one, those
  /// that the dynamic linker's cache leads to from a name that begins as the pattern does.
  std::vector<Found> find(const std::string& pattern);
  /// Files of one folder.
  std::vector<Found> find_in(const std::string& folder, const std::string& pattern);
  /// There is a link of that name in the folder where the file was found, or in that where it is.
  bool link_beside(const Found& file, const std::string& name) const;

 private:
  const std::vector<std::string>& names(const std::string& folder);
  /// A path in the dynamic linker's cache.
  struct Cached {
    std::string path;
    std::vector<std::string> links = {};  ///< what it and those before lead to
    bool is_followed = false;
  };
  std::vector<Cached>& cached();

  const Host& driver_;
  std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> names_;
  std::optional<std::vector<Cached>> cached_;
};

/// The path in the container for a file of the driver: its own, but standard paths for what is in slipway's store.
std::string container_path(const std::string& real);
/// Without Debian's "nvidia/current", where the linker of a container does not look by itself.
std::string standard_path(std::string path);

/// "535.261.03" of "libcuda.so.535.261.03"; empty where there is no ".so." with a dotted version behind.
std::string version_suffix(std::string_view name);

/// The libraries of one driver version.
struct DriverLibraries {
  std::vector<Found> files;
  std::vector<std::string> folders;  ///< where they are, as containers see it
};

/// All libraries of the version, in every folder that has one and its "vdpau".
/// @param with_explicit  those of OpenGL, EGL, GLVND and OpenCL as well, which have versions of their own
/// Errors: `not_found` no libcuda at all; `conflict` there is one, of another version.
Result<DriverLibraries> find_driver_libraries(LibrarySearch& search, const std::string& driver_version,
                                              bool with_explicit = false);

/// Behind the others, unless it is there.
template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// The version that libcuda, else libnvidia-ml has in its name; empty when neither is there.
std::string installed_version(LibrarySearch& search);

/// Reads a few pages of the file, which may be large; empty when it has no soname or is no 64-bit ELF file.
std::string read_soname(const Host& host, const std::string& path);

}  // namespace slipway::toolkit
