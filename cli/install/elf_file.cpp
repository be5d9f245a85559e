// SPDX-License-Identifier: Apache-2.0
#include "cli/install/elf_file.hpp"

#include <memory>

#include <gelf.h>
#include <libelf.h>

namespace slipway::core {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

std::string text_at(Elf* elf, const GElf_Shdr& section, std::size_t offset) {
  const char* const text = elf_strptr(elf, section.sh_link, offset);
  return text == nullptr ? std::string{} : std::string(text);
}

void read_dynamic(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Dyn entry;
  for (int i = 0; gelf_getdyn(data, i, &entry) != nullptr; ++i)
    if (entry.d_tag == DT_NEEDED) file.needed.push_back(text_at(elf, section, entry.d_un.d_val));
}

/// The records of versions are chained by offsets; an offset of 0 ends a chain.
void read_wanted(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Verneed library;
  for (int at = 0; gelf_getverneed(data, at, &library) != nullptr; at += static_cast<int>(library.vn_next)) {
    std::set<std::string>& versions = file.wanted[text_at(elf, section, library.vn_file)];
    GElf_Vernaux version;
    int beside = at + static_cast<int>(library.vn_aux);
    for (unsigned i = 0; i < library.vn_cnt && gelf_getvernaux(data, beside, &version) != nullptr; ++i) {
      if ((version.vna_flags & VER_FLG_WEAK) == 0) versions.insert(text_at(elf, section, version.vna_name));
      beside += static_cast<int>(version.vna_next);
    }
    if (library.vn_next == 0) break;
  }
}

void read_offered(Elf* elf, const GElf_Shdr& section, Elf_Data* data, ElfFile& file) {
  GElf_Verdef version;
  for (int at = 0; gelf_getverdef(data, at, &version) != nullptr; at += static_cast<int>(version.vd_next)) {
    GElf_Verdaux name;
    if (gelf_getverdaux(data, at + static_cast<int>(version.vd_aux), &name) != nullptr)
      file.offered.insert(text_at(elf, section, name.vda_name));
    if (version.vd_next == 0) break;
  }
}

}  // namespace

bool is_elf(const std::string& content) { return content.starts_with(ELFMAG); }

Result<ElfFile> read_elf(std::string& content, const std::string& path) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_memory(content.data(), content.size()));
  GElf_Ehdr header;
  std::size_t names = 0;
  if (!elf || gelf_getehdr(elf.get(), &header) == nullptr || elf_getshdrstrndx(elf.get(), &names) != 0)
    return Error{ErrorCode::corrupt, path + " is no ELF file as a whole", path, "install it again", {}};
  ElfFile file;
  file.machine = header.e_machine;
  for (Elf_Scn* part = elf_nextscn(elf.get(), nullptr); part != nullptr; part = elf_nextscn(elf.get(), part)) {
    GElf_Shdr section;
    if (gelf_getshdr(part, &section) == nullptr) continue;
    const char* const name = elf_strptr(elf.get(), names, section.sh_name);
    if (section.sh_type == SHT_SYMTAB || (name != nullptr && std::string_view(name).starts_with(".debug")))
      file.has_debug_parts = true;
    Elf_Data* const data = elf_getdata(part, nullptr);
    if (data == nullptr) continue;
    if (section.sh_type == SHT_DYNAMIC) read_dynamic(elf.get(), section, data, file);
    if (section.sh_type == SHT_GNU_verneed) read_wanted(elf.get(), section, data, file);
    if (section.sh_type == SHT_GNU_verdef) read_offered(elf.get(), section, data, file);
  }
  return file;
}

std::string machine_name(unsigned machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  return "ELF machine " + std::to_string(machine);
}

}  // namespace slipway::core
