// SPDX-License-Identifier: Apache-2.0
#include "elf_note.hpp"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <unistd.h>

#include "base/elf/elf_sections.hpp"

namespace slipway::hook {

namespace {

constexpr std::size_t kLargestSection = 1U << 20;
constexpr std::size_t kNoteAlignment = 4;

Error malformed() { return Error{ErrorCode::invalid, "it is not a 64-bit ELF file, or it is damaged", {}, {}, {}}; }

bool read_at(int fd, void* into, std::size_t size, std::uint64_t offset) {
  return offset <= INT64_MAX && ::pread(fd, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

Result<Elf64_Ehdr> read_header(int fd) {
  Elf64_Ehdr header{};
  if (!read_at(fd, &header, sizeof(header), 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return malformed();
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return malformed();
  return header;
}

std::size_t padded(std::size_t size) { return (size + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment; }

std::string find_note(std::string_view bytes, std::string_view owner) {
  Elf64_Nhdr note{};
  while (bytes.size() >= sizeof(note)) {
    std::memcpy(&note, bytes.data(), sizeof(note));
    bytes.remove_prefix(sizeof(note));
    if (padded(note.n_namesz) > bytes.size()) break;
    const std::string_view name = bytes.substr(0, note.n_namesz);
    bytes.remove_prefix(padded(note.n_namesz));
    if (note.n_descsz > bytes.size()) break;
    const std::string_view text = bytes.substr(0, note.n_descsz);
    if (name.substr(0, name.find('\0')) == owner) return std::string(text.substr(0, text.find('\0')));
    bytes.remove_prefix(std::min(padded(note.n_descsz), bytes.size()));
  }
  return {};
}

}  // namespace

Result<std::string> read_note(int fd, std::string_view section, std::string_view owner) {
  if (const auto header = read_header(fd); !header) return header.error();
  const auto sections = base::ElfSections::of_file(fd);
  if (!sections) return malformed();
  const Elf64_Shdr* const notes = sections->named(SHT_NOTE, section);
  if (notes == nullptr) return std::string();
  const auto bytes = sections->content(*notes, kLargestSection);
  return bytes ? Result<std::string>(find_note(*bytes, owner)) : malformed();
}

Result<bool> has_interpreter(int fd) {
  SLIPWAY_TRY(header, read_header(fd));
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_at(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment))) return malformed();
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

}  // namespace slipway::hook
