// SPDX-License-Identifier: Apache-2.0
// plugins/driver/package/package.hpp - one driver package of a catalogue: a driver version and flavour for one kernel,
// or the source that kernels are compiled from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/inputs.hpp>

#include "nvidia/flavour.hpp"

namespace slipway::driver {

/// What the user space layer holds that a plan has to link to, relative to the layer's top (annotation kFiles).
struct PackageFiles {
  std::string libdir;                  ///< "usr/lib/x86_64-linux-gnu"
  std::vector<std::string> libraries;  ///< names in libdir that programs load: "libcuda.so.1"
  std::vector<std::string> tools;      ///< names in usr/bin: "nvidia-smi"
  std::vector<std::string> icds;       ///< names in etc/OpenCL/vendors: "nvidia.icd"
};
Json to_json(const PackageFiles& files);
/// Errors: `invalid` when a member has the wrong type, or a name would lead out of its folder.
Result<PackageFiles> package_files_from_json(const Json& value);

/// How the source layer is compiled (annotation kSource).
struct SourceTree {
  std::string directory;             ///< working folder inside the layer, where the Makefile is
  std::vector<std::string> modules;  ///< what `make modules` makes there, without ".ko"
};
Json to_json(const SourceTree& source);
Result<SourceTree> source_tree_from_json(const Json& value);

struct Package {
  std::string digest;  ///< of the manifest
  std::string tag;
  std::string version;
  nvidia::Flavour flavour = nvidia::Flavour::open;
  std::optional<nvidia::Flavour> default_flavour;
  std::string kernel_release;                 ///< empty: a source package
  std::string os;                             ///< empty: any
  std::string arch;                           ///< empty: any
  std::string signer;                         ///< empty: the modules are not signed
  std::map<std::string, std::string> fails;   ///< kernel release or pattern to the compiler's first error
  Json userspace, firmware, modules, source;  ///< layer descriptors; null where it has none

  bool is_source() const { return kernel_release.empty(); }
  /// The recorded compile error for a kernel; nothing when none is recorded.
  std::optional<std::string> known_failure(const std::string& kernel) const;
};

/// Errors: `corrupt` when the manifest is a driver package and misses what every one has, naming it.
Result<Package> package_from(const CatalogueEntry& entry);

/// The driver packages of a catalogue, each digest once, sorted by version, kernel, flavour, digest. Manifests that are
/// something else are left out; broken ones go to `problems`, one sentence each.
std::vector<Package> packages_of(const Catalogue& catalogue, std::vector<std::string>& problems);

inline constexpr std::string_view kStoreName = "driver";
inline constexpr std::string_view kStore = "/usr/lib/slipway/store/driver";
inline constexpr std::string_view kCurrent = "/usr/lib/slipway/store/driver/current";

/// Below kCurrent; in each layer's folder is what the package has in that layer.
inline const std::string kUserspaceFolder = std::string{kCurrent} + "/userspace";
inline const std::string kFirmwareFolder = std::string{kCurrent} + "/firmware";
/// Holds kernel/NAME.ko and Module.symvers.
inline std::string modules_folder(std::string_view release) {
  return std::string{kCurrent} + "/modules/" + std::string{release};
}

/// A resolved path that belongs to slipway's store.
inline bool is_ours(std::string_view path) { return path.starts_with("/usr/lib/slipway/"); }

}  // namespace slipway::driver
