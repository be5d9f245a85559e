// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/machine/dpkg.hpp - versions of installed packages, by dpkg's list.
#pragma once

#include <string>
#include <string_view>

namespace slipway::nvidia {

inline constexpr const char* kDpkgList = "/var/lib/dpkg/status";
inline constexpr std::size_t kLongestDpkgList = 64U << 20U;

/// Returns the version of a package in dpkg's list; empty when it is not installed.
inline std::string package_version(std::string_view list, std::string_view package) {
  const std::string start = "Package: " + std::string(package) + "\n";
  constexpr std::string_view kVersion = "\nVersion: ";
  for (auto at = list.find(start); at != std::string_view::npos; at = list.find(start, at + 1)) {
    if (at != 0 && list[at - 1] != '\n') continue;
    const std::string_view entry = list.substr(at, list.find("\n\n", at) - at);
    const auto version = entry.find(kVersion);
    if (version == std::string_view::npos || entry.find("\nStatus: install ok installed") == std::string_view::npos)
      continue;
    const auto value = version + kVersion.size();
    return std::string(entry.substr(value, entry.find('\n', value) - value));
  }
  return {};
}

}  // namespace slipway::nvidia
