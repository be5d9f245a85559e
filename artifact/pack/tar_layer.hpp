// SPDX-License-Identifier: Apache-2.0
// artifact/pack/tar_layer.hpp - packs a folder into a compressed tar, the same bytes for the same content.
//
// Entries are sorted by path; owner root:root, modes 0755 and 0644, one mtime for all. Files that a layer cannot
// contain (devices, sockets) are refused.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/result.hpp>

#include "artifact/io/progress.hpp"

namespace slipway::artifact {

struct TarLayer {
  std::string digest;               ///< of the compressed bytes
  std::uint64_t size = 0;           ///< of the compressed bytes
  std::uint64_t unpacked_size = 0;  ///< of the tar
};

struct TarOptions {
  std::string compression;  ///< "zstd" (level 10), "gzip", "xz" or "none"
  std::int64_t mtime = 0;   ///< seconds
};

/// Packs `folder` into the new file `output`. Errors: `not_found`, `unsupported` for a device or similar, `no_space`, …
Result<TarLayer> write_tar_layer(const std::string& folder, const std::string& output, const TarOptions& options,
                                 const Reporter& reporter);

}  // namespace slipway::artifact
