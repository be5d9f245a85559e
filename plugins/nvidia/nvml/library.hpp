// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/nvml/library.hpp - libnvidia-ml.so.1, opened at run time; every function of it may be missing.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/nvml/abi/base.h"

namespace slipway::nvidia::nvml {

/// The soname; the plain ".so" is for compilers and never opened.
inline constexpr std::string_view kSoname = "libnvidia-ml.so.1";

/// The places to search for the library.
struct LibraryChoice {
  std::string named;              ///< only this file (SLIPWAY_NVML); empty: by the next two members
  std::string driver_root = "/";  ///< root folder of the driver; "/": the loader's path is searched too
  /// The running machine, borrowed: NVML is not started if that would make the kernel load a driver needlessly
  /// (would_load_driver_for_nothing()). Null: no check.
  const Host* machine = nullptr;
};

/// Chooses for a host: SLIPWAY_NVML in the environment, else the library below `driver_root` in the host's root.
/// Errors: `offline` neither live nor simulated: the NVML of a root filesystem is never run; as root, `denied` another
/// user could replace the file that SLIPWAY_NVML names.
Result<LibraryChoice> choose_library(const Host& host, std::string_view driver_root = "/");

/// Returns the files to try below a driver root, in order: absolute paths in the usual library folders.
std::vector<std::string> library_candidates(const std::string& driver_root);

/// A loaded library. Thread-safe; closed when the last owner releases it.
class Library {
 public:
  /// Opens the first file that exists. Errors: `not_found` no such library; those of open_library(): `denied` another
  /// user could have written it.
  static Result<std::shared_ptr<const Library>> open(const LibraryChoice& choice);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Returns the function of that name; null if this library does not have it.
  template <class... Arguments>
  auto function(const char* name) const {
    return reinterpret_cast<nvmlReturn_t (*)(Arguments...)>(symbol(name));
  }
  /// Returns the first existing function of these names, for "_v3", "_v2" and so on with equal arguments.
  template <class... Arguments>
  auto function(std::initializer_list<const char*> names) const {
    void* found = nullptr;
    for (const char* name : names)
      if (found == nullptr) found = symbol(name);
    return reinterpret_cast<nvmlReturn_t (*)(Arguments...)>(found);
  }
  bool has(const char* name) const { return symbol(name) != nullptr; }
  /// Returns the opened file, after links: its name has the driver's version.
  const std::string& path() const { return path_; }

 private:
  Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* symbol(const char* name) const;

  void* handle_;
  std::string path_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, void*, std::less<>> symbols_;
};

/// Calls a function that may be missing: then it returns FUNCTION_NOT_FOUND.
template <class... Parameters, class... Arguments>
nvmlReturn_t invoke(nvmlReturn_t (*function)(Parameters...), Arguments... arguments) {
  return function == nullptr ? NVML_ERROR_FUNCTION_NOT_FOUND : function(arguments...);
}

}  // namespace slipway::nvidia::nvml
