// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/ld_cache.cpp - /etc/ld.so.cache of a driver root that another user filled.
#include "nvidia/ld_cache.hpp"

#include <cstdint>

#include "tests/fuzz/fuzz_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* arch : {"x86_64", "aarch64"}) {
    const auto paths = slipway::nvidia::parse_ld_cache(bytes, arch);
    slipway::fuzz::demand_presentable(paths);
    if (!paths) continue;
    slipway::fuzz::demand(paths->size() <= size / 24, "an entry takes 24 bytes");
    for (const auto& path : *paths)
      slipway::fuzz::demand(bytes.find(path) != std::string_view::npos, "a path is one of the cache's");
  }
  return 0;
}
