// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/ld_cache.hpp - /etc/ld.so.cache of a driver's root, in the format of glibc 2.2 and newer: the places
// of libraries outside the usual folders, for example below /usr/local/nvidia/lib64.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::nvidia {

inline constexpr const char* kLdCache = "/etc/ld.so.cache";
/// A larger cache is not read.
inline constexpr std::size_t kMaxLdCache = 16U << 20U;

/// Returns the paths of the 64-bit libraries of a machine ("x86_64", "aarch64", "ppc64le"), in the cache's order.
/// Errors: `corrupt` when it is not a cache in glibc's new format, or an offset is out of range.
Result<std::vector<std::string>> parse_ld_cache(std::string_view bytes, std::string_view arch);

}  // namespace slipway::nvidia
