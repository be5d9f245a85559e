// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/elf/module_elf.hpp - small files in the form of kernel modules, with symbol versions and signatures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/modinfo/symbol_versions.hpp"
#include "tests/unit/base/elf/hostile_elf.hpp"

namespace slipway::testing {

/// Returns the content of a section `__versions`.
inline std::string version_records(const base::SymbolVersions& versions) {
  std::string records;
  for (const auto& [name, checksum] : versions) {
    std::string record = bytes_of(std::uint64_t{checksum}) + name;
    record.resize(64);
    records += record;
  }
  return records;
}

/// Returns the sections `__version_ext_crcs` and `__version_ext_names`.
inline std::vector<HostileSection> extended_versions(const base::SymbolVersions& versions) {
  HostileSection checksums{.name = "__version_ext_crcs"};
  HostileSection names{.name = "__version_ext_names"};
  for (const auto& [name, checksum] : versions) {
    checksums.content += bytes_of(checksum);
    names.content += name + '\0';
  }
  return {checksums, names};
}

/// Returns a module with these symbol versions; without the section if there are none.
/// @param info  its "key=value" texts
inline std::string module_elf(const base::SymbolVersions& versions, const std::vector<std::string>& info = {}) {
  HostileSection modinfo{.name = ".modinfo"};
  for (const auto& text : info) modinfo.content += text + '\0';
  std::vector<HostileSection> sections{modinfo};
  if (!versions.empty()) sections.push_back({.name = "__versions", .content = version_records(versions)});
  return hostile_elf(sections);
}

/// Returns what scripts/sign-file appends to a module. @param says_bytes  0: the real size
inline std::string appended_signature(const std::string& message, std::uint32_t says_bytes = 0) {
  const std::uint32_t size = says_bytes != 0 ? says_bytes : static_cast<std::uint32_t>(message.size());
  std::string trailer(12, '\0');
  trailer[2] = 2;
  for (unsigned i = 0; i < 4; ++i) trailer[8 + i] = static_cast<char>(size >> (24U - 8U * i));
  return message + trailer + "~Module signature appended~\n";
}

}  // namespace slipway::testing
