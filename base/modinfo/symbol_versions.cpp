// SPDX-License-Identifier: Apache-2.0
#include "base/modinfo/symbol_versions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

#include <elf.h>

#include "base/elf/elf_sections.hpp"

namespace slipway::base {
namespace {

constexpr std::size_t kMostVersions = std::size_t{4} << 20U;  // 64 Ki symbols; the largest modules import 2000
constexpr std::size_t kRecord = 64;                           // struct modversion_info: the checksum, then the name
constexpr std::size_t kChecksum = sizeof(std::uint64_t);      // an unsigned long there
constexpr std::string_view kHex = "0x";

Error broken_versions(const char* why) { return Error{.code = ErrorCode::corrupt, .what = why}; }

Result<SymbolVersions> parse_records(std::string_view section) {
  if (section.size() % kRecord != 0) return broken_versions("its section __versions is cut off");
  SymbolVersions versions;
  for (; !section.empty(); section.remove_prefix(kRecord)) {
    std::uint64_t checksum = 0;
    std::memcpy(&checksum, section.data(), sizeof checksum);
    const std::string_view field = section.substr(kChecksum, kRecord - kChecksum);
    const std::string_view name = field.substr(0, field.find('\0'));
    if (name.empty()) continue;
    if (name.size() == field.size() || !is_symbol_name(name) || checksum > UINT32_MAX)
      return broken_versions("its section __versions is broken");
    versions.emplace(name, static_cast<std::uint32_t>(checksum));
  }
  return versions;
}

Result<SymbolVersions> parse_extended(std::string_view checksums, std::string_view names) {
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  if (checksums.size() % kWord != 0) return broken_versions("its section __version_ext_crcs is cut off");
  SymbolVersions versions;
  for (; !checksums.empty(); checksums.remove_prefix(kWord)) {
    const std::size_t end = names.find('\0');
    if (end == std::string_view::npos) return broken_versions("its section __version_ext_names is cut off");
    std::uint32_t checksum = 0;
    std::memcpy(&checksum, checksums.data(), kWord);
    if (end > 0 && !is_symbol_name(names.substr(0, end)))
      return broken_versions("its section __version_ext_names is broken");
    if (end > 0) versions.emplace(names.substr(0, end), checksum);
    names.remove_prefix(end + 1);
  }
  return versions;
}

}  // namespace

Result<SymbolVersions> symbol_versions_of(std::string_view bytes) {
  SLIPWAY_TRY(sections, ElfSections::of_bytes(bytes));
  const Elf64_Shdr* const checksums = sections.named(SHT_PROGBITS, "__version_ext_crcs");
  const Elf64_Shdr* const names = sections.named(SHT_PROGBITS, "__version_ext_names");
  if (checksums != nullptr && names != nullptr) {
    SLIPWAY_TRY(checksum_bytes, sections.content(*checksums, kMostVersions));
    SLIPWAY_TRY(name_bytes, sections.content(*names, kMostVersions));
    return parse_extended(checksum_bytes, name_bytes);
  }
  const Elf64_Shdr* const records = sections.named(SHT_PROGBITS, "__versions");
  if (records == nullptr) return SymbolVersions{};
  SLIPWAY_TRY(record_bytes, sections.content(*records, kMostVersions));
  return parse_records(record_bytes);
}

bool is_symbol_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string checksum_text(std::uint32_t checksum) {
  std::array<char, sizeof "0x01234567"> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", checksum);
  return text.data();
}

bool read_checksum(std::string_view text, std::uint32_t& checksum) {
  if (!text.starts_with(kHex)) return false;
  text.remove_prefix(kHex.size());
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  checksum = value;
  return true;
}

}  // namespace slipway::base
