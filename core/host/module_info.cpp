// SPDX-License-Identifier: Apache-2.0
#include "core/host/module_info.hpp"

#include <cstring>
#include <memory>
#include <string_view>

#include <gelf.h>
#include <libelf.h>

namespace slipway::core {
namespace {

Error no_module(const std::string& path) {
  return Error{ErrorCode::invalid, path + " is no kernel module (it has no .modinfo section)", path, {}, {}};
}

/// The section's bytes; empty when there is none.
std::string_view modinfo_of(Elf* elf) {
  std::size_t names = 0;
  if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, ".modinfo") != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data != nullptr && data->d_buf != nullptr) return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

}  // namespace

Result<std::map<std::string, std::string>> read_module_info(int fd, const std::string& path) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr), &elf_end);
  if (!elf) return no_module(path);
  std::string_view rest = modinfo_of(elf.get());
  if (rest.empty()) return no_module(path);
  std::map<std::string, std::string> fields;
  while (!rest.empty()) {
    const std::string_view field = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    if (const std::size_t equals = field.find('='); equals != std::string_view::npos)
      fields.emplace(field.substr(0, equals), field.substr(equals + 1));
  }
  return fields;
}

}  // namespace slipway::core
