// SPDX-License-Identifier: Apache-2.0
// artifact/oci/origin.hpp - one artifact source, opened: a registry, an OCI layout folder, or a bundle file.
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

/// What a tag points at. The tag is empty for what a layout lists without a name.
struct TaggedRoot {
  std::string tag;
  Descriptor descriptor;
};

/// Which tags are read where a source names no single one.
struct TagSelection {
  std::optional<std::vector<std::string>> prefixes;  ///< those that begin with one of these; empty: all

  bool takes(const std::string& tag) const;
};

/// The tags of an origin: those that were wanted, resolved, and the names of the others.
struct TaggedRoots {
  std::vector<TaggedRoot> wanted;   ///< sorted by tag
  std::vector<std::string> unread;  ///< sorted
};

/// Blobs that are at hand now.
struct Fetched {
  struct Blob {
    std::string digest;
    std::string path;  ///< the file that holds it: a blob of its own, or the bundle
  };
  std::vector<Blob> blobs;
  std::uint64_t bytes = 0;  ///< how many came over the network
};

/// Serves one thread. Manifests and blobs are looked for by digest and checked before they are handed out, blobs while
/// they are read.
class Origin {
 public:
  virtual ~Origin() = default;

  /// How messages call it: the repository or path.
  virtual const std::string& name() const = 0;

  /// What the tags point at. Only `tag` where that is given, else those of the selection; what has no tag is always
  /// among them. Errors: `not_found` no such tag, with the nearest ones; `unreachable`, `denied`, `corrupt`.
  virtual Result<TaggedRoots> roots(const std::string& tag, const TagSelection& selection) = 0;

  /// The bytes of each manifest, in the same order. Errors of each: `not_found`, `corrupt`, `unreachable`, …
  virtual std::vector<Result<std::string>> manifests(const std::vector<Descriptor>& wanted) = 0;

  /// Makes blobs available without the network. Errors: `not_found`, `corrupt`, `unreachable`, …
  virtual Result<Fetched> fetch(const std::vector<Descriptor>& blobs) = 0;

  /// A blob, to be read once. Whoever reads it checks the digest. Fetches it first where that is needed.
  virtual Result<std::unique_ptr<ByteSource>> open(const Descriptor& blob) = 0;

  /// A blob turned out to be damaged: a copy in the cache is dropped. What to do next, for the message.
  virtual std::string drop_damaged(const Descriptor& blob) = 0;
};

/// What an origin works with.
struct OriginContext {
  std::string cache;  ///< folder of the content-addressed cache; not used by layouts and bundles
  Reporter reporter;
};

/// Opens a layout folder or a bundle. Errors: `not_found` nothing is there; `invalid` it is something else.
Result<std::unique_ptr<Origin>> open_local(const Source& source);

}  // namespace slipway::artifact
