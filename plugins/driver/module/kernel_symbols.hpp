// SPDX-License-Identifier: Apache-2.0
// plugins/driver/module/kernel_symbols.hpp - the symbol checksums of a kernel, from its own modules and from
// Module.symvers.
//
// The kernel's own modules are installed with the kernel, so their checksums are the kernel's. A Module.symvers comes
// with the headers, and may be of another build.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

#include "base/modinfo/symbol_versions.hpp"
#include "driver/module/key_id.hpp"

namespace slipway::driver {

/// The symbol that stands for the layout of the kernel's central structures; each module records it.
inline constexpr std::string_view kModuleLayout = "module_layout";

/// True for the symbols that facts and packages record: module_layout, and symbols of the kernel itself that NVIDIA's
/// modules import, from each subsystem that they use.
bool is_watched(std::string_view symbol);

/// The first module, by name, of those below /lib/modules/RELEASE/kernel.
struct OwnModule {
  std::string path;
  std::string vermagic;  ///< without the trailing space of the kernel's macro
  base::SymbolVersions versions;
  std::optional<KeyId> signer;
};

/// @param path  first_own_module(); empty: the kernel has no module
/// Empty when it cannot be read.
std::optional<OwnModule> read_own_module(const Host& host, const std::string& path);

struct SymbolSource {
  std::string file;
  base::SymbolVersions versions;
};

struct KernelSymbols {
  bool known = false;                 ///< a module of the kernel was read
  bool modversions = false;           ///< its modules record checksums: CONFIG_MODVERSIONS
  std::vector<SymbolSource> sources;  ///< the kernel's own modules first
  std::string left_out;  ///< a sentence about a Module.symvers of another build of this kernel; empty: none

  /// Returns the first source that has the symbol; nullptr if not found.
  const SymbolSource* find(std::string_view symbol) const;
};
void to_json(Json& value, const KernelSymbols& symbols);
void from_json(const Json& value, KernelSymbols& symbols);

/// Reads {"module_layout": "0xbce1a965", …}; other values are left out.
base::SymbolVersions symbol_versions_from_json(const Json& value);
Json symbol_versions_to_json(const base::SymbolVersions& versions);

/// Reads the checksums of the wanted symbols.
/// @param own       from read_own_module()
/// @param thorough  without a Module.symvers, reads up to ten large modules of the kernel instead of one
KernelSymbols read_kernel_symbols(const Host& host, const std::string& release, const std::optional<OwnModule>& own,
                                  const std::function<bool(std::string_view)>& wanted, bool thorough);

}  // namespace slipway::driver
