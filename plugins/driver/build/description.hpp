// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/description.hpp - the package.yaml of a driver package (docs/driver-packages.md), and the data
// for its annotations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "driver/package/package.hpp"

namespace slipway::driver {

/// The result of a build, and the folders of the package folder with its layers.
struct Built {
  std::string version;
  nvidia::Flavour flavour = nvidia::Flavour::open;
  std::optional<nvidia::Flavour> default_flavour;
  std::string os;
  std::string arch;
  PackageFiles files;
  bool firmware = false;
  std::string kernel_release;        ///< empty: no modules
  std::vector<std::string> modules;  ///< file names
  std::string vermagic;
  std::string signer;
  Json signer_key;                           ///< KeyId; null: not signed
  Json symbols = Json::object();             ///< module file to watched symbol to checksum
  std::optional<SourceTree> source;          ///< with_source
  SupportedGpus gpus;                        ///< the driver's own list; empty: there was none
  std::map<std::string, std::string> fails;  ///< kernels for which the source does not compile
};

/// The folder of each role's layer.
inline constexpr const char* kUserspaceLayer = "userspace";
inline constexpr const char* kFirmwareLayer = "firmware";
inline constexpr const char* kModulesLayer = "modules";
inline constexpr const char* kSourceLayer = "source";

/// package.yaml as JSON, which is YAML.
Json describe(const Built& built);

/// `<driver>-<os>`: the tag of the index that lists all kernels.
std::string index_tag(const Built& built);

/// The common name of a certificate's subject, or the whole subject when it has none. PEM or DER. Errors: `not_found`;
/// `invalid` when it is not a certificate.
Result<std::string> certificate_subject(const std::string& file);

/// Checks that a private key (PEM) and a certificate belong together. Errors: those above; `invalid` it is not a key,
/// or the key of another certificate.
Status check_key_pair(const std::string& key, const std::string& certificate);

/// Maps kernel release to the compiler's first error, for the source package of the same driver, flavour, system and
/// architecture. Empty when the layout does not exist yet, or cannot be read: then pkg.build reports why.
std::map<std::string, std::string> recorded_failures(const std::string& layout, const Built& of);

}  // namespace slipway::driver
