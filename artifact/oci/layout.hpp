// SPDX-License-Identifier: Apache-2.0
// artifact/oci/layout.hpp - opens OCI layouts, as a folder or packed into one tar file (a bundle), and reads their
// index.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// The common part of a layout as a folder and one as a file.
class LocalOrigin : public Origin {
 public:
  LocalOrigin(std::string path, std::vector<TaggedRoot> roots) : path_(std::move(path)), roots_(std::move(roots)) {}

  const std::string& name() const override { return path_; }
  Result<TaggedRoots> roots(const std::string& tag, const TagSelection& selection) override;
  std::vector<Result<std::string>> manifests(const std::vector<Descriptor>& wanted) override;

 protected:
  std::string path_;

 private:
  Result<std::string> manifest(const Descriptor& descriptor);
  std::vector<TaggedRoot> roots_;
};

/// Opens a folder with oci-layout, index.json and blobs/. Errors: `invalid` it is not a layout; `unsupported` another
/// version.
Result<std::unique_ptr<Origin>> open_layout(const std::string& path);

/// Opens an uncompressed tar file of such a folder. Blobs are read from inside it. Errors: `invalid` it is not such a
/// file.
Result<std::unique_ptr<Origin>> open_bundle(const std::string& path);

/// Checks an `oci-layout` file. Messages call the layout `path`. Errors: `invalid`, `unsupported` another version.
Status check_layout_file(std::string_view text, const std::string& path);

/// Returns the list of `index.json`; a tag is the annotation org.opencontainers.image.ref.name, which is then removed.
Result<std::vector<TaggedRoot>> parse_layout_index(std::string_view text, const std::string& path);

/// Returns the entries with this tag, or those of this selection; sorted by tag and digest.
/// Errors: `not_found` no such tag, with the nearest ones.
Result<TaggedRoots> select_roots(const std::vector<TaggedRoot>& all, const std::string& tag,
                                 const TagSelection& selection, const std::string& source);

}  // namespace slipway::artifact
