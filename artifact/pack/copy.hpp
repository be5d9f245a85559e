// SPDX-License-Identifier: Apache-2.0
// artifact/pack/copy.hpp - copies packages by tag: from a layout to a registry (push), from any source to a layout
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

/// The destination of a copy.
class Target {
 public:
  virtual ~Target() = default;
  /// Checks each tag of `source` before anything is written. Errors: `invalid` the target does not allow this tag.
  virtual Status accepts(const std::string& tag, const std::string& source) const = 0;
  virtual Result<bool> has(const Descriptor& blob) = 0;
  /// Stores a blob; the target checks its digest.
  virtual Status put_blob(const Descriptor& blob, Origin& from) = 0;
  /// Stores the bytes of a manifest or index, under `tag` when that is not empty.
  virtual Status put_manifest(const Descriptor& manifest, const std::string& text, const std::string& tag) = 0;
  /// Lists a manifest that was stored without a tag. A registry has no such list.
  virtual Status list(const Descriptor& manifest) = 0;
  virtual Status finish() { return {}; }
};

/// Opens a registry for writing. Errors: as for reading one.
Result<std::unique_ptr<Target>> open_registry_target(const Source& source, const Reporter& reporter);
/// Opens a layout folder for writing; its contents stay.
Result<std::unique_ptr<Target>> open_layout_target(const std::string& folder, const Reporter& reporter);

/// Opens a bundle file for writing: a layout folder beside it, which is packed into one file at the end and then
/// replaces an existing file.
Result<std::unique_ptr<Target>> open_bundle_target(const std::string& file, const Reporter& reporter);

/// Copies everything under these tags (all tags when there are none): blobs first, each once, then the manifests that
/// list them.
/// @return {"digest": to be pinned, that of the last index, "tags": […], "roots": [{tag, digest, index}…], "bytes":
///         copied}
/// Uses the present targets of the tags; no digest pins them.
Result<Json> copy_tags(Origin& from, Target& to, const std::vector<std::string>& tags);

/// Copies the content of this digest, checks it, and adds these tags. Without tags, a layout lists it as unnamed.
Result<Json> copy_digest(Origin& from, Target& to, const std::string& digest, const std::vector<std::string>& tags);

}  // namespace slipway::artifact
