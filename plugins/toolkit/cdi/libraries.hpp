// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/libraries.hpp - finds the driver's libraries below a driver root, and their names.
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

/// A file found by a search.
struct Found {
  std::string path;  ///< its path in the driver root
  std::string real;  ///< behind all links
};

/// Finds libraries by a pattern for their file names. Reads each folder once.
class LibrarySearch {
 public:
  /// @param folders  to search instead of the usual library folders; empty: the usual ones
  LibrarySearch(const Host& driver, std::vector<std::string> folders);

  /// Returns the files whose names match the pattern (fnmatch), each once, in the order of the folders; if there is
  /// none, those that the dynamic linker's cache has under a name with the pattern's beginning.
  std::vector<Found> find(const std::string& pattern);
  /// Searches one folder.
  std::vector<Found> find_in(const std::string& folder, const std::string& pattern);
  /// True when there is a link of that name in the folder where the file was found, or in the folder of the real file.
  bool link_beside(const Found& file, const std::string& name) const;

 private:
  const std::vector<std::string>& names(const std::string& folder);
  /// A path in the dynamic linker's cache.
  struct Cached {
    std::string path;
    std::vector<std::string> links = {};  ///< targets of the path and of each further link
    bool is_followed = false;
  };
  std::vector<Cached>& cached();

  const Host& driver_;
  std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> names_;
  std::optional<std::vector<Cached>> cached_;
};

/// Returns the path in the container for a file of the driver: the same path, or a standard one for a file in slipway's
/// store.
std::string container_path(const std::string& real);
/// Removes Debian's "nvidia/current", which a container's linker does not search.
std::string standard_path(std::string path);

/// Returns "535.261.03" for "libcuda.so.535.261.03"; empty without ".so." and a dotted version.
std::string version_suffix(std::string_view name);

/// The libraries of one driver version.
struct DriverLibraries {
  std::vector<Found> files;
  std::vector<std::string> folders;  ///< their folders, as seen by containers
};

/// Finds all libraries of the version, in every folder that has one and its "vdpau".
/// @param with_explicit  includes those of OpenGL, EGL, GLVND and OpenCL, which have their own versions
/// Errors: `not_found` no libcuda at all; `conflict` there is one, of another version.
Result<DriverLibraries> find_driver_libraries(LibrarySearch& search, const std::string& driver_version,
                                              bool with_explicit = false);

/// Appends the value unless it is in the list.
template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

/// Returns the version in the name of libcuda, or else libnvidia-ml; empty when both are missing.
std::string installed_version(LibrarySearch& search);

/// Reads only a few pages of the file, which may be large; empty when it has no soname or is not a 64-bit ELF file.
std::string read_soname(const Host& host, const std::string& path);

}  // namespace slipway::toolkit
