// SPDX-License-Identifier: Apache-2.0
#include "base/modinfo/module_info.hpp"

#include <algorithm>

#include <elf.h>

#include "base/elf/elf_sections.hpp"

namespace slipway::base {
namespace {

constexpr std::size_t kMaxModinfoBytes = std::size_t{1} << 20U;  // a module for very many devices has 200 KiB

Error corrupt(const char* why) { return Error{.code = ErrorCode::corrupt, .what = why}; }

/// The section's strings are "key=value", each ended by NUL.
ModuleInfo parse(std::string_view section) {
  ModuleInfo info;
  while (!section.empty()) {
    const std::string_view entry = section.substr(0, section.find('\0'));
    section.remove_prefix(std::min(entry.size() + 1, section.size()));
    if (const std::size_t equals = entry.find('='); equals != std::string_view::npos)
      info.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return info;
}

Result<ModuleInfo> info_in(const Result<ElfSections>& sections) {
  if (!sections) return sections.error();
  const Elf64_Shdr* const section = sections->named(SHT_PROGBITS, ".modinfo");
  if (section == nullptr) return corrupt("it has no .modinfo section");
  SLIPWAY_TRY(bytes, sections->content(*section, kMaxModinfoBytes));
  return parse(bytes);
}

}  // namespace

Result<ModuleInfo> module_info_of(std::string_view bytes) { return info_in(ElfSections::of_bytes(bytes)); }

Result<ModuleInfo> module_info_of_file(int fd) { return info_in(ElfSections::of_file(fd)); }

}  // namespace slipway::base
