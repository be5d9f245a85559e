// SPDX-License-Identifier: Apache-2.0
#include "app/install/elf_file.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include <gelf.h>
#include <libelf.h>

#include "base/elf/elf_sections.hpp"

namespace slipway::app {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// A library has a few dozen of each.
constexpr int kMostEntries = 4096;
constexpr std::size_t kLongestName = 1024;

/// Returns the text; empty if the string is missing or cannot be a name.
std::string text_at(Elf* elf, const GElf_Shdr& section, std::size_t offset) {
  const char* const text = elf_strptr(elf, section.sh_link, offset);
  if (text == nullptr || ::strnlen(text, kLongestName) == kLongestName) return {};
  return text;
}

/// The offset of the next record of a chain, or -1 after the last one. A chain that leads backwards would never end.
int next_record(int at, unsigned offset) {
  const std::int64_t next = std::int64_t{at} + offset;
  return offset < sizeof(GElf_Vernaux) || next > std::numeric_limits<int>::max() ? -1 : static_cast<int>(next);
}

void read_dynamic(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Dyn entry;
  for (int i = 0; i < kMostEntries && gelf_getdyn(data, i, &entry) != nullptr; ++i)
    if (entry.d_tag == DT_NEEDED) file.needed.push_back(text_at(elf, section, entry.d_un.d_val));
}

/// Returns the symbol versions required of one library.
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

}  // namespace

bool is_elf(const std::string& content) { return content.starts_with(ELFMAG); }

Result<ElfFile> read_elf(std::string& content, const std::string& path) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_memory(content.data(), content.size()));
  GElf_Ehdr header;
  std::size_t names = 0;
  std::size_t sections = 0;
  if (!elf || gelf_getehdr(elf.get(), &header) == nullptr || elf_getshdrstrndx(elf.get(), &names) != 0 ||
      elf_getshdrnum(elf.get(), &sections) != 0 || (sections == 0 && header.e_shnum != 0))
    return Error{ErrorCode::corrupt, path + " is not a complete ELF file", path, "install it again", {}};
  ElfFile file;
  file.machine = header.e_machine;
  for (Elf_Scn* part = elf_nextscn(elf.get(), nullptr); part != nullptr; part = elf_nextscn(elf.get(), part)) {
    GElf_Shdr section;
    if (gelf_getshdr(part, &section) == nullptr) continue;
    const char* const name = elf_strptr(elf.get(), names, section.sh_name);
    if (section.sh_type == SHT_SYMTAB || (name != nullptr && std::string_view(name).starts_with(".debug")))
      file.has_debug_parts = true;
    if (section.sh_type != SHT_DYNAMIC && section.sh_type != SHT_GNU_verneed) continue;
    Elf_Data* const data = elf_getdata(part, nullptr);
    if (data == nullptr) continue;
    if (section.sh_type == SHT_DYNAMIC)
      read_dynamic(elf.get(), section, data, file);
    else
      read_wanted(elf.get(), section, data, file);
  }
  return file;
}

Result<OfferedLibrary> read_offered(int fd) {
  constexpr std::size_t kMostRecordBytes = std::size_t{256} << 10U;  // those of the C library have 2 KiB
  SLIPWAY_TRY(sections, base::ElfSections::of_file(fd));
  OfferedLibrary library{sections.machine(), {}};
  const Elf64_Shdr* const section = sections.of_type(SHT_GNU_verdef);
  if (section == nullptr) return library;
  SLIPWAY_TRY(records, sections.content(*section, kMostRecordBytes));
  const auto copy = [&](std::size_t at, auto& record) {
    if (at > records.size() || records.size() - at < sizeof record) return false;
    std::memcpy(&record, records.data() + at, sizeof record);
    return true;
  };
  Elf64_Verdef version{};
  std::size_t at = 0;
  for (int i = 0; i < kMostEntries && copy(at, version); ++i) {
    Elf64_Verdaux name{};
    if (copy(at + version.vd_aux, name)) library.offered.insert(sections.text(section->sh_link, name.vda_name));
    if (version.vd_next < sizeof version) break;  // the last one, or one that points backwards
    at += version.vd_next;
  }
  return library;
}

std::string machine_name(unsigned machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  return "ELF machine " + std::to_string(machine);
}

}  // namespace slipway::app
