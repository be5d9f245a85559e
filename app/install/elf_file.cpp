// SPDX-License-Identifier: Apache-2.0
#include "app/install/elf_file.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

namespace slipway::core {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// A library has some dozens of either. The file may be an image's, and what it says of itself without end.
constexpr int kMostEntries = 4096;
constexpr std::size_t kLongestName = 1024;

/// Empty: there is none, or it is no name.
std::string text_at(Elf* elf, const GElf_Shdr& section, std::size_t offset) {
  const char* const text = elf_strptr(elf, section.sh_link, offset);
  if (text == nullptr || ::strnlen(text, kLongestName) == kLongestName) return {};
  return text;
}

/// Where the next record of a chain is; negative: there is none. One that leads backwards would be read for ever.
int next_record(int at, unsigned offset) {
  const std::int64_t next = std::int64_t{at} + offset;
  return offset < sizeof(GElf_Vernaux) || next > std::numeric_limits<int>::max() ? -1 : static_cast<int>(next);
}

void read_dynamic(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Dyn entry;
  for (int i = 0; i < kMostEntries && gelf_getdyn(data, i, &entry) != nullptr; ++i)
    if (entry.d_tag == DT_NEEDED) file.needed.push_back(text_at(elf, section, entry.d_un.d_val));
}

/// The versions that are wanted of one library.
std::set<std::string> wanted_of(Elf* elf, const GElf_Shdr& section, Elf_Data* data, int at) {
  std::set<std::string> versions;
  GElf_Vernaux version;
  for (int i = 0; at >= 0 && i < kMostEntries && gelf_getvernaux(data, at, &version) != nullptr; ++i) {
    if ((version.vna_flags & VER_FLG_WEAK) == 0) versions.insert(text_at(elf, section, version.vna_name));
    at = next_record(at, version.vna_next);
  }
  return versions;
}

/// The records of versions are chained by offsets; an offset of 0 ends a chain.
void read_wanted(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Verneed library;
  int at = 0;
  for (int i = 0; at >= 0 && i < kMostEntries && gelf_getverneed(data, at, &library) != nullptr; ++i) {
    file.wanted[text_at(elf, section, library.vn_file)].merge(
        wanted_of(elf, section, data, next_record(at, library.vn_aux)));
    at = next_record(at, library.vn_next);
  }
}

void read_offered(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Verdef version;
  int at = 0;
  for (int i = 0; at >= 0 && i < kMostEntries && gelf_getverdef(data, at, &version) != nullptr; ++i) {
    GElf_Verdaux name;
    const int beside = next_record(at, version.vd_aux);
    if (beside >= 0 && gelf_getverdaux(data, beside, &name) != nullptr)
      file.offered.insert(text_at(elf, section, name.vda_name));
    at = next_record(at, version.vd_next);
  }
}

}  // namespace

bool is_elf(const std::string& content) { return content.starts_with(ELFMAG); }

namespace {

/// Sections of the file are read as they are needed. @param largest  of a section, bytes: a larger one is left out
Result<ElfFile> read_parts(Elf* elf, const std::string& path, std::uint64_t largest) {
  GElf_Ehdr header;
  std::size_t names = 0;
  std::size_t sections = 0;
  if (elf == nullptr || gelf_getehdr(elf, &header) == nullptr || elf_getshdrstrndx(elf, &names) != 0 ||
      elf_getshdrnum(elf, &sections) != 0 || (sections == 0 && header.e_shnum != 0))
    return Error{ErrorCode::corrupt, path + " is no ELF file as a whole", path, "install it again", {}};
  const auto fits = [&](std::size_t index) {
    GElf_Shdr section;
    Elf_Scn* const part = elf_getscn(elf, index);
    return part != nullptr && gelf_getshdr(part, &section) != nullptr && section.sh_size <= largest;
  };
  ElfFile file;
  file.machine = header.e_machine;
  std::set<unsigned> read;  // a library has one section of each kind
  for (Elf_Scn* part = elf_nextscn(elf, nullptr); part != nullptr; part = elf_nextscn(elf, part)) {
    GElf_Shdr section;
    if (gelf_getshdr(part, &section) == nullptr) continue;
    const char* const name = fits(names) ? elf_strptr(elf, names, section.sh_name) : nullptr;
    if (section.sh_type == SHT_SYMTAB || (name != nullptr && std::string_view(name).starts_with(".debug")))
      file.has_debug_parts = true;
    const bool counts =
        section.sh_type == SHT_DYNAMIC || section.sh_type == SHT_GNU_verneed || section.sh_type == SHT_GNU_verdef;
    if (!counts || !fits(elf_ndxscn(part)) || !fits(section.sh_link) || !read.insert(section.sh_type).second) continue;
    Elf_Data* const data = elf_getdata(part, nullptr);
    if (data == nullptr) continue;
    if (section.sh_type == SHT_DYNAMIC) read_dynamic(elf, section, data, file);
    if (section.sh_type == SHT_GNU_verneed) read_wanted(elf, section, data, file);
    if (section.sh_type == SHT_GNU_verdef) read_offered(elf, section, data, file);
  }
  return file;
}

/// A count of sections that is in the first of them, because there are more than 65,279, may be any number.
bool has_few_sections(int fd) {
  Elf64_Ehdr header{};
  if (::pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  Elf32_Ehdr small{};
  std::memcpy(&small, &header, sizeof small);
  return (header.e_ident[EI_CLASS] == ELFCLASS64 ? header.e_shnum : small.e_shnum) != 0;
}

}  // namespace

Result<ElfFile> read_elf(std::string& content, const std::string& path) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_memory(content.data(), content.size()));
  return read_parts(elf.get(), path, content.size());
}

Result<ElfFile> read_elf(int fd, const std::string& path) {
  constexpr std::uint64_t kLargestSection = std::uint64_t{4}
                                            << 20U;  // names of symbols are some hundred thousand bytes
  if (!has_few_sections(fd)) return Error{ErrorCode::corrupt, path + " is no ELF file", path, "install it again", {}};
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(fd, ELF_C_READ, nullptr));
  return read_parts(elf.get(), path, kLargestSection);
}

std::string machine_name(unsigned machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  return "ELF machine " + std::to_string(machine);
}

}  // namespace slipway::core
