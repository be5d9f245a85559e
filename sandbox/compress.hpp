// SPDX-License-Identifier: Apache-2.0
// sandbox/compress.hpp - compresses a kernel module as the kernel's own build does, so that it can be loaded.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// From one descriptor's position to its end into the other. `format` is "xz" (CRC32, dictionary of 1 MiB: what the
/// kernel's decompressor accepts) or "zstd" (level 19). The same bytes always give the same result.
/// Errors: `invalid` for another format; `io`, `no_space`.
Status compress_file(const std::string& format, int from, int to, const std::string& path);

}  // namespace slipway::core
