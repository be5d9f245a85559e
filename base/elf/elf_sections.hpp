// SPDX-License-Identifier: Apache-2.0
// base/elf/elf_sections.hpp - sections of an untrusted ELF file, written by the author of an image or a
// compiler in it.
//
// libelf trusts such a file: it allocates memory for as many sections as the file names, and unpacks a compressed
// section of 4 MiB to 4 GiB. This reader reads the table of sections, at most 4 MiB, and then the requested sections,
// up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include <slipway/result.hpp>

namespace slipway::base {

class ElfSections {
 public:
  /// Reads an open file, which must stay open as long as this is used. Errors: `corrupt` it is not an ELF file.
  static Result<ElfSections> of_file(int fd);
  /// Reads all the bytes of a file, which must stay as long as this is used. Errors: as of_file().
  static Result<ElfSections> of_bytes(std::string_view bytes);

  /// Returns the machine type, such as EM_X86_64.
  unsigned machine() const { return machine_; }
  /// Returns all sections; an empty list for a 32-bit or big-endian file.
  const std::vector<Elf64_Shdr>& all() const { return all_; }
  /// Returns the first section of that type; nullptr if not found.
  const Elf64_Shdr* of_type(std::uint32_t type) const;
  /// Returns the first section of that type and name; nullptr if not found.
  const Elf64_Shdr* named(std::uint32_t type, std::string_view name) const;

  /// Returns the bytes of a section. Errors: `corrupt` it has more than `most_bytes`, is compressed, or lies outside
  /// the file.
  Result<std::string> content(const Elf64_Shdr& section, std::size_t most_bytes) const;
  /// Returns the text at that offset of a string table; empty if not found, or it is longer than 255 bytes.
  std::string text(std::size_t table, std::uint64_t offset) const;

 private:
  /// Reads that many bytes at the offset. @return false when the file is too short
  using Read = std::function<bool(char* into, std::size_t size, std::uint64_t offset)>;
  static Result<ElfSections> read_table(Read read);

  Read read_;
  unsigned machine_ = 0;
  std::size_t names_ = 0;
  std::vector<Elf64_Shdr> all_;
};

}  // namespace slipway::base
