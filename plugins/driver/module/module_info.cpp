// SPDX-License-Identifier: Apache-2.0
#include "driver/module/module_info.hpp"

#include <algorithm>
#include <memory>

#include <archive.h>

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
  // Reserved memory that is never touched costs nothing; growing in steps would hold the module twice for a moment.
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

Result<base::ModuleInfo> read_module_info(std::string_view bytes) {
  SLIPWAY_TRY(elf, decompress(bytes));
  auto info = base::module_info_of(elf);
  return info ? std::move(info) : Result<base::ModuleInfo>(corrupt(info.error().what));
}

std::string vermagic_release(std::string_view vermagic) { return std::string{vermagic.substr(0, vermagic.find(' '))}; }

bool is_signed_module(std::string_view elf) { return elf.ends_with("~Module signature appended~\n"); }

}  // namespace slipway::driver
