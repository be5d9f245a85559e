// SPDX-License-Identifier: Apache-2.0
// base/elf/elf_sections.hpp - sections of an ELF file that the author of an image or a compiler of an image
// wrote, and that may say anything of itself.
//
// libelf trusts such a file: it takes memory for as many sections as the file names, and unpacks a compressed section
// of 4 MiB to 4 GiB. Here the table of sections is read, at most 4 MiB, and then what is asked for, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include <slipway/result.hpp>

namespace slipway {

class ElfSections {
 public:
  /// Of an open file, which stays open as long as this is used. Errors: `corrupt` it is not an ELF file.
  static Result<ElfSections> of_file(int fd);
  /// Of all the bytes of a file, which have to stay as long as this is used. Errors: as of_file().
  static Result<ElfSections> of_bytes(std::string_view bytes);

  /// EM_X86_64 and the like.
  unsigned machine() const { return machine_; }
  /// Without those of a file for processors of 32 bits or of the other byte order.
  const std::vector<Elf64_Shdr>& all() const { return all_; }
  /// The first section of that type; nullptr: there is none.
  const Elf64_Shdr* of_type(std::uint32_t type) const;
  /// The first section of that type and name; nullptr: there is none.
  const Elf64_Shdr* named(std::uint32_t type, std::string_view name) const;

  /// The bytes of a section. Errors: `corrupt` it has more than `most_bytes`, is compressed, or the file has no such
  /// bytes.
  Result<std::string> content(const Elf64_Shdr& section, std::size_t most_bytes) const;
  /// A text of the table of texts that has this index; empty: there is none, or it is longer than 255 bytes.
  std::string text(std::size_t table, std::uint64_t offset) const;

 private:
  /// Reads that many bytes from there. @return false: the file has not so many
  using Read = std::function<bool(char* into, std::size_t size, std::uint64_t offset)>;
  static Result<ElfSections> read_table(Read read);

  Read read_;
  unsigned machine_ = 0;
  std::size_t names_ = 0;
  std::vector<Elf64_Shdr> all_;
};

}  // namespace slipway
