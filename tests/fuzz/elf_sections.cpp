// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/elf_sections.cpp - a library of a root, as `slipway install` reads it, and a kernel module that a root's
// compiler made: the same in a file and in memory, within the limits, whatever it contains.
#include "base/elf/elf_sections.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "app/install/elf_file.hpp"
#include "base/modinfo/module_info.hpp"
#include "tests/fuzz/scratch_tree.hpp"

namespace {

using namespace slipway;

void check_section(const base::ElfSections& one, const base::ElfSections& other, std::size_t index,
                   std::string_view bytes) {
  constexpr std::size_t kMost = 4096;
  const auto content = one.content(one.all()[index], kMost);
  fuzz::demand_presentable(content);
  if (content) {
    fuzz::demand(content->size() <= kMost, "no more is read than was asked for");
    fuzz::demand(bytes.find(*content) != std::string_view::npos, "a section is a part of the file");
    fuzz::demand(other.content(other.all()[index], kMost).value_or("") == *content, "memory has what the file has");
  }
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, one.all()[index].sh_size - 1, UINT64_MAX}) {
    const std::string text = one.text(index, offset);
    fuzz::demand(text.size() < 256 && text.find('\0') == std::string::npos, "a text ends at its first NUL");
    fuzz::demand(bytes.find(text) != std::string_view::npos, "a text is a part of the file");
    fuzz::demand(other.text(index, offset) == text, "memory has what the file has");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const fuzz::MemoryFile file(bytes);
  const auto of_file = base::ElfSections::of_file(file.fd());
  const auto of_bytes = base::ElfSections::of_bytes(bytes);
  fuzz::demand_presentable(of_file);
  fuzz::demand(of_file.ok() == of_bytes.ok(), "both are ELF files, or neither is");
  if (of_file) {
    fuzz::demand(of_file->machine() == of_bytes->machine(), "both are for one machine");
    fuzz::demand(of_file->all().size() == of_bytes->all().size(), "both have the same sections");
    fuzz::demand(of_file->all().size() <= size / sizeof(Elf64_Shdr), "no section is read that is not in the file");
    constexpr std::size_t kMostSections = 64;
    for (std::size_t i = 0; i < std::min(of_file->all().size(), kMostSections); ++i)
      check_section(*of_file, *of_bytes, i, bytes);
  }
  const auto module = base::module_info_of_file(file.fd());
  fuzz::demand_presentable(module);
  fuzz::demand(module.ok() == base::module_info_of(bytes).ok(), "both are modules, or neither is");
  if (module) fuzz::demand(*module == *base::module_info_of(bytes), "both say the same");
  const auto library = app::read_offered(file.fd());
  fuzz::demand_presentable(library);
  if (library) fuzz::demand(library->offered.size() <= 4096, "a library has no more versions than any");
  return 0;
}
