// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <elf.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>

#include "toolkit/cdi/libraries.hpp"

namespace slipway::toolkit {
namespace {

constexpr std::size_t kMaxHeaders = 256;
constexpr std::size_t kMaxDynamic = 4096;  // entries
constexpr std::size_t kMaxName = 256;

class ElfFile {
 public:
  explicit ElfFile(int fd) : fd_(fd) {}

  std::string soname() {
    Elf64_Ehdr header{};
    if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > kMaxHeaders)
      return {};
    segments_.resize(header.e_phnum);
    if (!read_bytes(header.e_phoff, segments_.data(), segments_.size() * sizeof(Elf64_Phdr))) return {};
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_DYNAMIC) return soname_in(segment);
    return {};
  }

 private:
  bool read_bytes(std::uint64_t offset, void* into, std::size_t size) const {
    return ::pread(fd_, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }
  template <class T>
  bool read(std::uint64_t offset, T& into) const {
    return read_bytes(offset, &into, sizeof into);
  }

  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
        return address - segment.p_vaddr + segment.p_offset;
    return std::nullopt;
  }

  std::string soname_in(const Elf64_Phdr& dynamic) const {
    std::vector<Elf64_Dyn> entries(std::min<std::size_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), kMaxDynamic));
    if (!read_bytes(dynamic.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return {};
    std::optional<std::uint64_t> name;
    std::uint64_t strings = 0;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    }
    const auto table = offset_of(strings);
    if (!name || !table) return {};
    std::array<char, kMaxName> text{};
    const ssize_t size = ::pread(fd_, text.data(), text.size() - 1, static_cast<off_t>(*table + *name));
    return size > 0 ? std::string(text.data()) : std::string();
  }

  int fd_;
  std::vector<Elf64_Phdr> segments_;
};

}  // namespace

std::string read_soname(const Host& host, const std::string& path) {
  const auto root = RootDir::open(host.root_folder());
  if (!root) return {};
  const auto file = open_regular(*root, path);
  return file ? ElfFile(file->get()).soname() : std::string();
}

}  // namespace slipway::toolkit
