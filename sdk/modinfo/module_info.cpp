// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <gelf.h>
#include <libelf.h>

#include <slipway/modinfo/module_info.hpp>

namespace slipway {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

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

Result<ModuleInfo> info_in(Elf* elf) {
  std::size_t names = 0;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0)
    return corrupt("it is no ELF file");
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) return corrupt(elf_errmsg(-1));
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::string_view(name) != ".modinfo") continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return corrupt("its .modinfo section is broken");
    return parse({static_cast<const char*>(data->d_buf), data->d_size});
  }
  return corrupt("it has no .modinfo section");
}

}  // namespace

Result<ModuleInfo> module_info_of(std::string_view bytes) {
  elf_version(EV_CURRENT);
  // elf_memory() reads in place; its parameter is not const because of libelf's write mode.
  return info_in(ElfHandle(elf_memory(const_cast<char*>(bytes.data()), bytes.size())).get());
}

Result<ModuleInfo> module_info_of_file(int fd) {
  elf_version(EV_CURRENT);
  // Read, not mapped: a file that is cut short meanwhile is no SIGBUS.
  return info_in(ElfHandle(elf_begin(fd, ELF_C_READ, nullptr)).get());
}

}  // namespace slipway
