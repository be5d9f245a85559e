// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/fd.hpp>

#include "base/elf/elf_sections.hpp"
#include "driver/build/package_folder.hpp"

namespace slipway::driver {

std::string read_soname(const std::string& file) {
  constexpr std::size_t kMostEntries = 4096;
  // A link in a package may lead to any file of this machine.
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const auto sections = base::ElfSections::of_file(fd.get());
  const Elf64_Shdr* const dynamic = sections ? sections->of_type(SHT_DYNAMIC) : nullptr;
  if (dynamic == nullptr) return {};
  const auto entries = sections->content(*dynamic, kMostEntries * sizeof(Elf64_Dyn));
  if (!entries) return {};
  for (std::size_t at = 0; entries->size() - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    std::memcpy(&entry, entries->data() + at, sizeof entry);
    if (entry.d_tag == DT_SONAME) return sections->text(dynamic->sh_link, entry.d_un.d_val);
  }
  return {};
}

}  // namespace slipway::driver
