// SPDX-License-Identifier: Apache-2.0
// artifact/registry/cache.hpp - the content-addressed cache: CACHE/blobs/sha256/HEX, complete blobs and manifests.
//
// A file of that name is complete; what is still on its way is HEX.partial beside it, locked by whoever fills it.
#pragma once

#include <optional>
#include <string>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

#include "artifact/oci/descriptor.hpp"

namespace slipway::artifact {

class BlobCache {
 public:
  explicit BlobCache(std::string folder) : folder_(std::move(folder)) {}

  std::string path_of(const std::string& digest) const;
  std::string partial_path_of(const std::string& digest) const { return path_of(digest) + ".partial"; }

  /// Whether a complete file of the right size is there. Its content is checked by whoever reads it.
  bool has(const Descriptor& blob) const;

  /// A manifest with this digest; nothing when it is not there or turned out to be damaged (it is removed then).
  std::optional<std::string> manifest(const Descriptor& descriptor) const;
  /// Errors: as the system says.
  Status keep_manifest(const std::string& digest, std::string_view bytes) const;

  /// Opens the partial file to append to, and waits for the lock on it.
  Result<Fd> lock_partial(const std::string& digest) const;
  /// Forces the partial file to the disk and gives it its name.
  Status complete(int fd, const std::string& digest) const;

  void drop(const std::string& digest) const;
  void drop_partial(const std::string& digest) const;

 private:
  std::string blobs() const { return folder_ + "/blobs/sha256"; }
  std::string folder_;
};

}  // namespace slipway::artifact
