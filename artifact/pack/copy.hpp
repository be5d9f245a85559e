// SPDX-License-Identifier: Apache-2.0
// artifact/pack/copy.hpp - copies packages by tag: from a layout to a registry (push), from anywhere to a layout
// (pull).
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "artifact/io/byte_source.hpp"
#include "artifact/oci/artifact.hpp"
#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Where a package is copied to.
class Target {
 public:
  virtual ~Target() = default;
  /// Asked of each tag of `source` before anything is written. Errors: `invalid` this cannot be named so.
  virtual Status accepts(const std::string& tag, const std::string& source) const = 0;
  virtual Result<bool> has(const Descriptor& blob) = 0;
  /// Takes a blob in; its digest is checked there.
  virtual Status put_blob(const Descriptor& blob, Origin& from) = 0;
  /// Takes the bytes of a manifest or index in, under `tag` where that is not empty.
  virtual Status put_manifest(const Descriptor& manifest, const std::string& text, const std::string& tag) = 0;
  /// What was put without a tag is to be found by whoever lists the target. A registry has no such list.
  virtual Status list(const Descriptor& manifest) = 0;
  virtual Status finish() { return {}; }
};

/// A registry to write to. Errors: as for reading one.
Result<std::unique_ptr<Target>> open_registry_target(const Source& source, const Reporter& reporter);
/// A layout folder to write to; what is there stays.
Result<std::unique_ptr<Target>> open_layout_target(const std::string& folder, const Reporter& reporter);

/// A bundle file to write: a layout folder beside it, which becomes one file at the end. A file that is there is
/// replaced then.
Result<std::unique_ptr<Target>> open_bundle_target(const std::string& file, const Reporter& reporter);

/// Copies everything under these tags (all tags when there is none): blobs first, each once, then what lists them.
/// @return {"digest": to be pinned, which is that of the last index, "tags": […], "roots": [{tag, digest, index}…],
/// "bytes": copied}
/// What a tag points at is taken as it is now; nothing pins it.
Result<Json> copy_tags(Origin& from, Target& to, const std::vector<std::string>& tags);

/// Copies what has this digest, which is checked, and names it by these tags; a layout lists it without any as well.
Result<Json> copy_digest(Origin& from, Target& to, const std::string& digest, const std::vector<std::string>& tags);

}  // namespace slipway::artifact
