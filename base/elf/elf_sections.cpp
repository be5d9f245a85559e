// SPDX-License-Identifier: Apache-2.0
#include "base/elf/elf_sections.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <unistd.h>

namespace slipway::base {
namespace {

constexpr std::size_t kLongestText = 256;  // including the final NUL
constexpr std::uint64_t kFurthest = INT64_MAX;

Error corrupt(const char* why) { return Error{.code = ErrorCode::corrupt, .what = why}; }

bool is_elf(const Elf64_Ehdr& header) { return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0; }

unsigned machine_of(const Elf64_Ehdr& header) {
  const unsigned little = header.e_machine;  // a 32-bit file has it at the same offset
  return header.e_ident[EI_DATA] == ELFDATA2MSB ? (little >> 8U) | ((little & 0xFFU) << 8U) : little;
}

}  // namespace

Result<ElfSections> ElfSections::of_file(int fd) {
  return read_table([fd](char* into, std::size_t size, std::uint64_t offset) {
    return offset <= kFurthest && ::pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  });
}

Result<ElfSections> ElfSections::of_bytes(std::string_view bytes) {
  return read_table([bytes](char* into, std::size_t size, std::uint64_t offset) {
    if (offset > bytes.size() || size > bytes.size() - offset) return false;
    std::memcpy(into, bytes.data() + offset, size);
    return true;
  });
}

Result<ElfSections> ElfSections::read_table(Read read) {
  Elf64_Ehdr header{};
  if (!read(reinterpret_cast<char*>(&header), sizeof header, 0) || !is_elf(header))
    return corrupt("it is not an ELF file");
  ElfSections sections;
  sections.machine_ = machine_of(header);
  if (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_shnum != 0) {
    // A file with more than 65,279 sections has 0 here and its count elsewhere: no library or module has so many.
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum >= SHN_LORESERVE)
      return corrupt("its table of sections is broken");
    sections.all_.resize(header.e_shnum);
    if (!read(reinterpret_cast<char*>(sections.all_.data()), sections.all_.size() * sizeof(Elf64_Shdr), header.e_shoff))
      return corrupt("its table of sections is cut off");
    sections.names_ = header.e_shstrndx;
  }
  sections.read_ = std::move(read);
  return sections;
}

const Elf64_Shdr* ElfSections::of_type(std::uint32_t type) const {
  const auto found = std::ranges::find_if(all_, [&](const Elf64_Shdr& each) { return each.sh_type == type; });
  return found == all_.end() ? nullptr : &*found;
}

const Elf64_Shdr* ElfSections::named(std::uint32_t type, std::string_view name) const {
  const auto found = std::ranges::find_if(
      all_, [&](const Elf64_Shdr& each) { return each.sh_type == type && text(names_, each.sh_name) == name; });
  return found == all_.end() ? nullptr : &*found;
}

Result<std::string> ElfSections::content(const Elf64_Shdr& section, std::size_t most_bytes) const {
  if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0 || section.sh_size > most_bytes)
    return corrupt("one of its sections is too large, or compressed");
  if (section.sh_size == 0) return std::string();  // at any offset
  std::string bytes(section.sh_size, '\0');
  if (!read_(bytes.data(), bytes.size(), section.sh_offset)) return corrupt("one of its sections is cut off");
  return bytes;
}

std::string ElfSections::text(std::size_t table, std::uint64_t offset) const {
  if (table >= all_.size()) return {};
  const Elf64_Shdr& section = all_[table];
  const bool is_plain = section.sh_type == SHT_STRTAB && (section.sh_flags & SHF_COMPRESSED) == 0;
  if (!is_plain || offset >= section.sh_size || section.sh_offset > kFurthest - offset) return {};
  std::array<char, kLongestText> bytes{};
  const std::size_t size = std::min<std::uint64_t>(bytes.size(), section.sh_size - offset);
  if (!read_(bytes.data(), size, section.sh_offset + offset)) return {};
  const std::string_view text(bytes.data(), size);
  const std::size_t end = text.find('\0');
  return end == std::string_view::npos ? std::string() : std::string(text.substr(0, end));
}

}  // namespace slipway::base
