// SPDX-License-Identifier: Apache-2.0
// artifact/pack/layout_writer.hpp - adds blobs and tags to an OCI layout folder; its contents stay.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "artifact/oci/descriptor.hpp"
#include "base/write/scratch_folder.hpp"

namespace slipway::artifact {

/// A layout folder being written. index.json is replaced last, so an existing layout stays complete until then.
class LayoutWriter {
 public:
  /// Creates the folder or opens an existing one. Errors: `invalid` when it is something else.
  static Result<LayoutWriter> open(const std::string& folder);

  /// Returns the path for making files, one after the other, on the layout's filesystem, to pass to adopt(). A file
  /// that is not adopted is removed with this object, or after a killed process.
  std::string scratch_file() const { return scratch_.path() + "/blob"; }
  /// Moves a finished blob to its place by digest.
  Status adopt(const std::string& file, const std::string& digest) const;
  /// Adds a JSON blob. `descriptor` needs only media type, annotations and artifact type.
  Result<Descriptor> add_json(const Json& value, Descriptor descriptor) const;

  /// Adds the unchanged bytes of a manifest.
  Status add_text(const std::string& text, const std::string& digest) const;
  bool has(const std::string& digest) const;

  /// Returns the digest of a tag; empty if not found.
  std::string tagged(const std::string& tag) const;
  /// Returns a JSON blob of this layout. Errors: `corrupt` when it is missing or not JSON.
  Result<Json> json_blob(const std::string& digest) const;
  /// Sets a tag to a blob, replacing its former target.
  void set_tag(const std::string& tag, const Descriptor& descriptor);
  /// Lists a blob without a tag, once.
  void list(const Descriptor& descriptor);
  /// Writes index.json.
  Status finish() const;

 private:
  LayoutWriter(std::string folder, Json index, base::ScratchFolder scratch)
      : folder_(std::move(folder)), index_(std::move(index)), scratch_(std::move(scratch)) {}
  std::string blob_path(const std::string& digest) const;
  std::string folder_;
  Json index_;
  base::ScratchFolder scratch_;
};

/// Returns the descriptor of the empty config (image-spec 1.1).
Descriptor empty_config();

}  // namespace slipway::artifact
