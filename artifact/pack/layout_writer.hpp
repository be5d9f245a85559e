// SPDX-License-Identifier: Apache-2.0
// artifact/pack/layout_writer.hpp - adds blobs and tags to an OCI layout folder; what is there stays.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "artifact/oci/descriptor.hpp"
#include "base/write/scratch_folder.hpp"

namespace slipway::artifact {

/// A layout folder that is being written. index.json is replaced last, so a layout that was there stays whole until
/// then.
class LayoutWriter {
 public:
  /// Makes the folder or opens the one that is there. Errors: `invalid` when it is something else.
  static Result<LayoutWriter> open(const std::string& folder);

  /// Where one file after the other is made on the layout's filesystem, to be given to adopt(). What is not goes with
  /// this object, or with a killed process.
  std::string scratch_file() const { return scratch_.path() + "/blob"; }
  /// Takes a finished blob in under its digest.
  Status adopt(const std::string& file, const std::string& digest) const;
  /// Adds a JSON blob. `descriptor` needs only media type, annotations and artifact type.
  Result<Descriptor> add_json(const Json& value, Descriptor descriptor) const;

  /// Adds a manifest as it came, byte for byte.
  Status add_text(const std::string& text, const std::string& digest) const;
  bool has(const std::string& digest) const;

  /// The digest under a tag; empty where there is none.
  std::string tagged(const std::string& tag) const;
  /// A JSON blob of this layout. Errors: `corrupt` when it is missing or no JSON.
  Result<Json> json_blob(const std::string& digest) const;
  /// Points a tag at a blob, instead of what it pointed at.
  void set_tag(const std::string& tag, const Descriptor& descriptor);
  /// Lists a blob without a tag, once.
  void list(const Descriptor& descriptor);
  /// Writes index.json.
  Status finish() const;

 private:
  LayoutWriter(std::string folder, Json index, ScratchFolder scratch)
      : folder_(std::move(folder)), index_(std::move(index)), scratch_(std::move(scratch)) {}
  std::string blob_path(const std::string& digest) const;
  std::string folder_;
  Json index_;
  ScratchFolder scratch_;
};

/// The descriptor of the empty config (image-spec 1.1).
Descriptor empty_config();

}  // namespace slipway::artifact
