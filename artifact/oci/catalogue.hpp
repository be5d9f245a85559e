// SPDX-License-Identifier: Apache-2.0
// artifact/oci/catalogue.hpp - walks an origin's tags and indexes down to the manifests.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/oci/artifact.hpp"
#include "artifact/oci/manifest.hpp"
#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Which part of a source is wanted. What the Source itself pins comes on top.
struct CatalogueQuery {
  TagSelection tags;   ///< only these; ignored where a tag or a digest is given
  std::string digest;  ///< only this manifest or index: what the lock names
};

/// One manifest with all that was said of it on the way down.
struct Located {
  Entry entry;
  Json config;                     ///< descriptor
  std::vector<std::string> above;  ///< digests of the indexes that led here, outermost first
};

/// Reads all manifests, sorted by tag and digest, each digest once. Manifests that an index lists and the source lacks
/// are left out with a warning, and so are types that slipway does not read, unless they were asked for by name.
/// A digest that was asked for is reached from the source's own pinned digest, where it has one.
/// @param unread  the names of the tags that the query left out; may be null
/// Errors: `not_found`, `corrupt`, `invalid`, `unreachable`, `denied`.
Result<std::vector<Located>> read_manifests(Origin& origin, const Source& source, const CatalogueQuery& query,
                                            const Reporter& reporter, std::vector<std::string>* unread = nullptr);

/// What the source holds, for planning. `complete` is false when the query left something unread.
/// Errors: those of read_manifests(); `denied` when nothing vouches for the source (trust.hpp).
Result<Catalogue> read_catalogue(Origin& origin, const Source& source, const CatalogueQuery& query,
                                 const Reporter& reporter);

}  // namespace slipway::artifact
