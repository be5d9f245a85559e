// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/ld_cache.hpp - reads the dynamic linker's cache, /etc/ld.so.cache.
//
// Format: glibc's sysdeps/generic/dl-cache.h. A header of the old format with its entries may stand in front.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::toolkit {

/// The paths of the 64-bit libraries of a machine ("x86_64", "aarch64", "ppc64le"), in the cache's order.
/// Errors: `corrupt` when it is no cache of glibc's new format, or an offset leads out of it.
Result<std::vector<std::string>> parse_ld_cache(std::string_view bytes, std::string_view arch);

}  // namespace slipway::toolkit
