// SPDX-License-Identifier: Apache-2.0
// artifact/oci/origin.hpp - an open artifact source: a registry, an OCI layout folder, or a bundle file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/io/byte_source.hpp"
#include "artifact/io/progress.hpp"
#include "artifact/oci/artifact.hpp"
#include "artifact/oci/descriptor.hpp"

namespace slipway::artifact {

/// The target of a tag. The tag is empty for an unnamed entry of a layout.
struct TaggedRoot {
  std::string tag;
  Descriptor descriptor;
};

/// Selects the tags to read when a source does not name a single one.
struct TagSelection {
  std::optional<std::vector<std::string>> prefixes;  ///< tags with one of these prefixes; empty: all

  bool takes(const std::string& tag) const;
};

/// The tags of an origin: the requested ones, resolved, and the names of the others.
struct TaggedRoots {
  std::vector<TaggedRoot> wanted;   ///< sorted by tag
  std::vector<std::string> unread;  ///< sorted
};

/// Blobs that are available now.
struct Fetched {
  struct Blob {
    std::string digest;
    std::string path;  ///< the file that contains it: its own, or the bundle
  };
  std::vector<Blob> blobs;
  std::uint64_t bytes = 0;  ///< number of bytes from the network
};

/// Serves one thread at a time. Finds manifests and blobs by digest; checks a manifest before it returns it, and a blob
/// while it is read.
class Origin {
 public:
  virtual ~Origin() = default;

  /// Returns the name for messages: the repository or path.
  virtual const std::string& name() const = 0;

  /// Returns the targets of the tags. Only `tag` when that is given, else those of the selection; entries without a tag
  /// are always included. Errors: `not_found` no such tag, with the nearest ones; `unreachable`, `denied`, `corrupt`.
  virtual Result<TaggedRoots> roots(const std::string& tag, const TagSelection& selection) = 0;

  /// Returns the bytes of each manifest, in the same order. Errors of each: `not_found`, `corrupt`, `unreachable`, …
  virtual std::vector<Result<std::string>> manifests(const std::vector<Descriptor>& wanted) = 0;

  /// Makes blobs available without the network. Errors: `not_found`, `corrupt`, `unreachable`, …
  virtual Result<Fetched> fetch(const std::vector<Descriptor>& blobs) = 0;

  /// Opens a blob for reading it once. The reader checks the digest. Fetches the blob first if necessary.
  virtual Result<std::unique_ptr<ByteSource>> open(const Descriptor& blob) = 0;

  /// Drops a damaged blob's copy from the cache. Returns the next step for the message.
  virtual std::string drop_damaged(const Descriptor& blob) = 0;
};

/// The environment of an origin.
struct OriginContext {
  std::string cache;  ///< folder of the content-addressed cache; not used by layouts and bundles
  Reporter reporter;
};

/// Opens a layout folder or a bundle. Errors: `not_found` it does not exist; `invalid` it is something else.
Result<std::unique_ptr<Origin>> open_local(const Source& source);

}  // namespace slipway::artifact
