// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/module_info.hpp"

#include <algorithm>
#include <memory>

#include <archive.h>
#include <gelf.h>
#include <libelf.h>

namespace slipway::driver {
namespace {

constexpr std::size_t kLargestModule = 512U << 20;
constexpr std::size_t kUsualModule = 64U << 20;
constexpr std::size_t kUsualRatio = 8;

Error corrupt(std::string why) {
  return {ErrorCode::corrupt, "the kernel module cannot be read: " + std::move(why), {}, {}, {}};
}

struct ArchiveEnd {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

// The section's strings are "key=value", each ended by NUL.
ModuleInfo parse_modinfo(std::string_view section) {
  ModuleInfo info;
  while (!section.empty()) {
    const auto end = section.find('\0');
    const auto entry = section.substr(0, end);
    section.remove_prefix(end == std::string_view::npos ? section.size() : end + 1);
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    info.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return info;
}

Result<ModuleInfo> read_elf(std::string& bytes) {
  if (elf_version(EV_CURRENT) == EV_NONE) return corrupt(elf_errmsg(-1));
  // elf_memory() reads in place; the parameter is not const because of libelf's write mode.
  const std::unique_ptr<Elf, ElfEnd> elf(elf_memory(bytes.data(), bytes.size()));
  std::size_t names = 0;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0)
    return corrupt("it is no ELF file");
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return corrupt(elf_errmsg(-1));
    const char* name = elf_strptr(elf.get(), names, header.sh_name);
    if (name == nullptr || std::string_view(name) != ".modinfo") continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return corrupt("its .modinfo section is broken");
    return parse_modinfo({static_cast<const char*>(data->d_buf), data->d_size});
  }
  return corrupt("it has no .modinfo section");
}

}  // namespace

Result<std::string> decompress(std::string_view bytes) {
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return std::string{bytes};
  const std::unique_ptr<archive, ArchiveEnd> reader(archive_read_new());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_format_raw(reader.get());
  archive_entry* entry = nullptr;
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK ||
      archive_read_next_header(reader.get(), &entry) != ARCHIVE_OK)
    return corrupt("it is neither ELF nor compressed in a way that is known");
  std::string content;
  // Room that is never touched costs nothing; growing step by step would hold the module twice for a moment.
  content.reserve(std::min(bytes.size() * kUsualRatio, kUsualModule));
  std::string block(256U << 10, '\0');
  while (true) {
    const auto count = archive_read_data(reader.get(), block.data(), block.size());
    if (count < 0) return corrupt("its compression is broken");
    if (count == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(count));
    if (content.size() > kLargestModule) return corrupt("it is larger than 512 MiB");
  }
}

Result<ModuleInfo> read_module_info(std::string_view bytes) {
  SLIPWAY_TRY(elf, decompress(bytes));
  return read_elf(elf);
}

std::string vermagic_release(std::string_view vermagic) { return std::string{vermagic.substr(0, vermagic.find(' '))}; }

bool is_signed_module(std::string_view elf) { return elf.ends_with("~Module signature appended~\n"); }

}  // namespace slipway::driver
