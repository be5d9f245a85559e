// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/nvidia/nvml/real_package.hpp - the place of Debian's packages of NVIDIA's own programs and
// libraries, if they are present.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace slipway::testing {

/// The package of this machine's architecture in the cache of the end-to-end tests (tests/e2e/lib.sh), where
/// tests/e2e/fetch-nvidia-programs.sh puts it; empty when it was not fetched here.
inline std::filesystem::path real_package(const std::string& name) {
#ifdef __aarch64__
  constexpr const char* kEnd = "_arm64.deb";
#else
  constexpr const char* kEnd = "_amd64.deb";
#endif
  namespace fs = std::filesystem;
  const char* named = std::getenv("SLIPWAY_E2E_CACHE");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path folder = named != nullptr   ? fs::path(named)
                          : cache != nullptr ? fs::path(cache) / "slipway-e2e"
                                             : fs::path(home == nullptr ? "/" : home) / ".cache/slipway-e2e";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "debs", ignored))
    if (const std::string file = entry.path().filename().string(); file.starts_with(name + "_") && file.ends_with(kEnd))
      return entry.path();
  return {};
}

}  // namespace slipway::testing
