// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/description.hpp - the package.yaml of a driver package (docs/driver-packages.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "driver/package/package.hpp"

namespace slipway::driver {

/// What was built, and in which folders of the package folder its layers are.
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
  std::optional<SourceTree> source;          ///< with_source
  std::map<std::string, std::string> fails;  ///< where the source does not compile
};

/// The folders that a layer of each role is taken from.
inline constexpr const char* kUserspaceLayer = "userspace";
inline constexpr const char* kFirmwareLayer = "firmware";
inline constexpr const char* kModulesLayer = "modules";
inline constexpr const char* kSourceLayer = "source";

/// package.yaml as JSON, which is YAML.
Json describe(const Built& built);

/// `<driver>-<os>`: the tag of the index that lists all kernels.
std::string index_tag(const Built& built);

}  // namespace slipway::driver
