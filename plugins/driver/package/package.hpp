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

#include "driver/package/supported_gpus.hpp"
#include "nvidia/flavour.hpp"

namespace slipway::driver {

/// Contents of the user space layer that a plan links to, relative to the layer's top (annotation kFiles).
struct PackageFiles {
  std::string libdir;                  ///< "usr/lib/x86_64-linux-gnu"
  std::vector<std::string> libraries;  ///< names in libdir that programs load: "libcuda.so.1"
  std::vector<std::string> tools;      ///< names in usr/bin: "nvidia-smi"
  std::vector<std::string> icds;       ///< names in etc/OpenCL/vendors: "nvidia.icd"
};
Json to_json(const PackageFiles& files);
/// Describes how to compile the source layer (annotation kSource).
Result<PackageFiles> package_files_from_json(const Json& value);

/// working folder inside the layer, with the Makefile
struct SourceTree {
  std::string directory;             ///< modules that `make modules` builds there, without ".ko"
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
  SupportedGpus gpus;                         ///< the driver's own list; empty: unknown
  std::map<std::string, std::string> fails;   ///< kernel release or pattern to the compiler's first error
  Json userspace, firmware, modules, source;  ///< layer descriptors; null if there is no such layer

  bool is_source() const { return kernel_release.empty(); }
  /// Returns the recorded compile error for a kernel; empty: none is recorded.
  std::optional<std::string> known_failure(const std::string& kernel) const;
};

/// Errors: `corrupt` when the manifest is a driver package without a required part; the text names it.
Result<Package> package_from(const CatalogueEntry& entry);

/// The driver packages of a catalogue, each digest once, sorted by version, kernel, flavour, digest. Manifests of other
/// kinds are left out; broken ones go to `problems`, one sentence each.
std::vector<Package> packages_of(const Catalogue& catalogue, std::vector<std::string>& problems);

inline constexpr std::string_view kStoreName = "driver";
inline constexpr std::string_view kStore = "/usr/lib/slipway/store/driver";
inline constexpr std::string_view kCurrent = "/usr/lib/slipway/store/driver/current";

/// Folders below kCurrent with the package's files, one per layer.
inline const std::string kUserspaceFolder = std::string{kCurrent} + "/userspace";
inline const std::string kFirmwareFolder = std::string{kCurrent} + "/firmware";
/// Contains kernel/NAME.ko and Module.symvers.
inline std::string modules_folder(std::string_view release) {
  return std::string{kCurrent} + "/modules/" + std::string{release};
}

/// The second set of modules, where an image has both kinds.
inline constexpr std::string_view kProprietaryLayer = "modules-proprietary/";
inline std::string proprietary_modules_folder(std::string_view release) {
  return std::string{kCurrent} + "/" + std::string{kProprietaryLayer} + std::string{release};
}

/// True for a resolved path in slipway's store.
inline bool is_ours(std::string_view path) { return path.starts_with("/usr/lib/slipway/"); }

}  // namespace slipway::driver
