// SPDX-License-Identifier: Apache-2.0
// artifact/registry/cache.hpp - the content-addressed cache: CACHE/blobs/sha256/HEX, complete blobs and manifests.
//
// A file of that name is complete; an incomplete one is HEX.partial beside it, locked by the process that fills it.
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

  /// True when a complete file of the right size exists. The reader checks its content.
  bool has(const Descriptor& blob) const;

  /// Returns a manifest with this digest; nothing when it is missing or damaged (it is then removed).
  std::optional<std::string> manifest(const Descriptor& descriptor) const;
  /// Errors: those of the system.
  Status keep_manifest(const std::string& digest, std::string_view bytes) const;

  /// Opens the partial file for appending, and waits for its lock.
  Result<Fd> lock_partial(const std::string& digest) const;
  /// Syncs the partial file to the disk and gives it its final name.
  Status complete(int fd, const std::string& digest) const;

  void drop(const std::string& digest) const;
  void drop_partial(const std::string& digest) const;

 private:
  std::string blobs() const { return folder_ + "/blobs/sha256"; }
  std::string folder_;
};

}  // namespace slipway::artifact
