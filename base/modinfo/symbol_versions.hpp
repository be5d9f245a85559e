// SPDX-License-Identifier: Apache-2.0
// base/modinfo/symbol_versions.hpp - the checksums of kernel symbols: those that a module was compiled with, and those
// that a kernel's build wrote to Module.symvers.
//
// A kernel with CONFIG_MODVERSIONS refuses a module that records another checksum for a symbol than its own:
// "disagrees about version of symbol module_layout". The release, and with it the vermagic, may be the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::base {

/// Symbol name to checksum (CRC).
using SymbolVersions = std::map<std::string, std::uint32_t, std::less<>>;

/// Reads the checksums of the symbols that an uncompressed module imports: sections `__version_ext_crcs` and
/// `__version_ext_names` (Linux 6.14 and later), else `__versions`. Empty: it was compiled without CONFIG_MODVERSIONS.
/// Errors: `corrupt`; `what` is the reason, as in module_info_of().
Result<SymbolVersions> symbol_versions_of(std::string_view bytes);

/// Reads a Module.symvers: lines of checksum, symbol, exporting module and kind, separated by tabs. Lines in another
/// form are skipped.
/// @param wanted  returns true for the names to keep
template <class Wanted>
SymbolVersions symbol_versions_in(std::string_view symvers, const Wanted& wanted);

/// True for a name of visible ASCII characters.
bool is_symbol_name(std::string_view name);

/// Returns "0xbce1a965".
std::string checksum_text(std::uint32_t checksum);
/// Reads checksum_text(). @return false for any other text
bool read_checksum(std::string_view text, std::uint32_t& checksum);

template <class Wanted>
SymbolVersions symbol_versions_in(std::string_view symvers, const Wanted& wanted) {
  SymbolVersions versions;
  while (!symvers.empty()) {
    const std::string_view line = symvers.substr(0, symvers.find('\n'));
    symvers.remove_prefix(line.size() < symvers.size() ? line.size() + 1 : symvers.size());
    const std::size_t first = line.find('\t');
    if (first == std::string_view::npos) continue;
    const std::string_view name = line.substr(first + 1, line.find('\t', first + 1) - first - 1);
    std::uint32_t checksum = 0;
    if (is_symbol_name(name) && wanted(name) && read_checksum(line.substr(0, first), checksum))
      versions.emplace(name, checksum);
  }
  return versions;
}

}  // namespace slipway::base
