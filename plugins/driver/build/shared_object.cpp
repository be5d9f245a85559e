// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "driver/build/package_folder.hpp"

namespace slipway::driver {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

std::string soname_in(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  const Elf_Data* data = elf_getdata(section, nullptr);
  const std::size_t count = header.sh_entsize == 0 ? 0 : header.sh_size / header.sh_entsize;
  for (std::size_t i = 0; data != nullptr && i < count; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(const_cast<Elf_Data*>(data), static_cast<int>(i), &entry) == nullptr || entry.d_tag != DT_SONAME)
      continue;
    const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    return name == nullptr ? "" : name;
  }
  return {};
}

}  // namespace

std::string read_soname(const std::string& file) {
  if (elf_version(EV_CURRENT) == EV_NONE) return {};
  // A link of a package may lead to anything of this machine.
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const std::unique_ptr<Elf, ElfEnd> elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return {};
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_DYNAMIC)
      return soname_in(elf.get(), section, header);
  }
  return {};
}

}  // namespace slipway::driver
