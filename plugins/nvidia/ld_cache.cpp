// SPDX-License-Identifier: Apache-2.0
#include "nvidia/ld_cache.hpp"

#include <cstdint>
#include <cstring>

namespace slipway::nvidia {
namespace {

constexpr std::string_view kOldMagic{"ld.so-1.7.0\0", 12};
constexpr std::string_view kNewMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kOldHeader = 16;  // magic and the number of entries
constexpr std::size_t kOldEntry = 12;
constexpr std::size_t kNewHeader = 48;
constexpr std::size_t kNewEntry = 24;
constexpr std::size_t kCountAt = 20;
constexpr std::size_t kValueAt = 8;  // offset of the path in an entry

Error corrupt(const char* what) {
  return Error{ErrorCode::corrupt,
               std::string("the dynamic linker's cache cannot be read: ") + what,
               "/etc/ld.so.cache",
               "run `ldconfig` to write a new one",
               {}};
}

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

/// The flags of an entry (low 16 bits) for ELF libraries of libc 6.
std::uint32_t flags_of(std::string_view arch) {
  if (arch == "aarch64") return 0x0a03;
  if (arch == "ppc64le") return 0x0503;
  return 0x0303;
}

/// Skips a header of the old format and its entries, which are aligned to 8 bytes.
std::size_t start_of_new_format(std::string_view bytes) {
  if (!bytes.starts_with(kOldMagic) || bytes.size() < kOldHeader) return 0;
  const std::size_t end = kOldHeader + std::size_t{word_at(bytes, kOldMagic.size())} * kOldEntry;
  return (end + 7) / 8 * 8;
}

}  // namespace

Result<std::vector<std::string>> parse_ld_cache(std::string_view bytes, std::string_view arch) {
  const std::size_t start = start_of_new_format(bytes);
  if (start > bytes.size()) return corrupt("its part in the old format is incomplete");
  bytes.remove_prefix(start);
  if (!bytes.starts_with(kNewMagic)) return corrupt("it has no part in glibc's new format");
  if (bytes.size() < kNewHeader) return corrupt("its header is cut off");
  const std::size_t count = word_at(bytes, kCountAt);
  if (count > (bytes.size() - kNewHeader) / kNewEntry) return corrupt("its entries are cut off");
  std::vector<std::string> paths;
  std::size_t size_of_paths = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kNewHeader + i * kNewEntry;
    if ((word_at(bytes, entry) & 0xffffU) != flags_of(arch)) continue;
    const std::size_t path = word_at(bytes, entry + kValueAt);
    const std::size_t end = path < bytes.size() ? bytes.find('\0', path) : std::string_view::npos;
    if (end == std::string_view::npos) return corrupt("a path in it is not terminated");
    // Entries that share one path would turn a cache of one megabyte into gigabytes.
    size_of_paths += end + 1 - path;
    if (size_of_paths > bytes.size()) return corrupt("its entries share their paths");
    paths.emplace_back(bytes.substr(path, end - path));
  }
  return paths;
}

}  // namespace slipway::nvidia
