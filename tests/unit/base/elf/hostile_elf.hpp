// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/elf/hostile_elf.hpp - ELF files with any claims about themselves.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace slipway::testing {

struct HostileSection {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::string content;
  std::uint32_t link = 0;
  std::uint64_t flags = 0;
  std::uint64_t declared_bytes = 0;  ///< 0: the real size
};

template <class Record>
std::string bytes_of(const Record& record) {
  std::string bytes(sizeof record, '\0');
  std::memcpy(bytes.data(), &record, sizeof record);
  return bytes;
}

/// Returns a shared library for x86_64 whose sections are these, from number 2 on; number 1 has their names.
/// @param names_flags  SHF_COMPRESSED: the names are packed()
inline std::string hostile_elf(std::vector<HostileSection> sections, std::uint64_t names_flags = 0,
                               std::string names = std::string(1, '\0')) {
  sections.insert(sections.begin(), HostileSection{});
  std::vector<std::uint32_t> name_at;
  for (const HostileSection& each : sections) {
    name_at.push_back(static_cast<std::uint32_t>(names_flags == 0 ? names.size() : 0));
    if (names_flags == 0) names += each.name + '\0';
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_version = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size() + 1);
  header.e_shstrndx = 1;
  header.e_shoff = sizeof header;
  sections.insert(sections.begin() + 1, HostileSection{"", SHT_STRTAB, std::move(names), 0, names_flags});
  name_at.insert(name_at.begin() + 1, 0);
  std::string table;
  std::string contents;
  const std::size_t begin = sizeof header + sections.size() * sizeof(Elf64_Shdr);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr section{};
    if (i != 0) {
      section.sh_name = name_at[i];
      section.sh_type = sections[i].type;
      section.sh_flags = sections[i].flags;
      section.sh_offset = begin + contents.size();
      section.sh_size = sections[i].declared_bytes != 0 ? sections[i].declared_bytes : sections[i].content.size();
      section.sh_link = sections[i].link;
      section.sh_addralign = 8;
    }
    table += bytes_of(section);
    contents += sections[i].content;
    contents.resize((contents.size() + 7) / 8 * 8);
  }
  return bytes_of(header) + table + contents;
}

/// Returns this many zeros, packed by zlib, 158 to 1, after the header of a compressed section. @param bytes  a
/// multiple of 258
inline std::string packed_zeros(std::uint64_t bytes) {
  std::string packed = "\x78\x9c";
  unsigned bits = 0;
  unsigned count = 0;
  const auto put = [&](unsigned value, unsigned length) {
    bits |= value << count;
    for (count += length; count >= 8; count -= 8, bits >>= 8U) packed += static_cast<char>(bits & 0xFFU);
  };
  const auto put_code = [&](unsigned code, unsigned length) {  // Huffman codes begin with their highest bit
    for (unsigned i = length; i > 0; --i) put((code >> (i - 1)) & 1U, 1);
  };
  put(0b011, 3);            // the last block, with fixed codes
  put_code(0b00110000, 8);  // a zero
  for (std::uint64_t done = 1; done + 258 <= bytes; done += 258) {
    put_code(0b11000101, 8);  // 258 bytes as
    put_code(0, 5);           // one byte before
  }
  for (std::uint64_t done = 1 + (bytes - 1) / 258 * 258; done < bytes; ++done) put_code(0b00110000, 8);
  put_code(0, 7);  // the end
  if (count > 0) put(0, 8 - count);
  const auto sum = static_cast<std::uint32_t>(bytes % 65521);  // Adler-32: high half; the low one is 1
  packed += {static_cast<char>(sum >> 8U), static_cast<char>(sum), '\0', '\1'};
  Elf64_Chdr head{};
  head.ch_type = ELFCOMPRESS_ZLIB;
  head.ch_size = bytes;
  head.ch_addralign = 1;
  return bytes_of(head) + packed;
}

}  // namespace slipway::testing
