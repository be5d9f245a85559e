// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/ld_cache_bytes.hpp - an /etc/ld.so.cache of these libraries, as glibc's ldconfig writes it for
// x86_64.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace slipway::test {

/// @param shared  all entries use the first path's offset
inline std::string ld_cache_of(const std::vector<std::string>& paths, bool shared = false) {
  constexpr std::size_t kHeader = 48;
  constexpr std::size_t kEntry = 24;
  const auto put = [](std::string& bytes, std::size_t at, std::uint32_t word) {
    std::memcpy(bytes.data() + at, &word, sizeof word);
  };
  std::string bytes("glibc-ld.so.cache1.1");
  bytes.resize(kHeader + paths.size() * kEntry);
  put(bytes, 20, static_cast<std::uint32_t>(paths.size()));
  const std::size_t first = bytes.size();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    put(bytes, kHeader + i * kEntry, 0x0303);  // an ELF library of libc 6 for x86-64
    put(bytes, kHeader + i * kEntry + 8, static_cast<std::uint32_t>(shared ? first : bytes.size()));
    if (!shared || i == 0) bytes += paths[i] + std::string(1, '\0');
  }
  return bytes;
}

}  // namespace slipway::test
