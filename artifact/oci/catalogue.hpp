// SPDX-License-Identifier: Apache-2.0
// artifact/oci/catalogue.hpp - reads the manifests below an origin's tags and indexes.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "artifact/oci/artifact.hpp"
#include "artifact/oci/manifest.hpp"
#include "artifact/oci/origin.hpp"

namespace slipway::artifact {

/// Selects a part of a source. The digest pinned by the Source itself also applies.
struct CatalogueQuery {
  TagSelection tags;   ///< only these; ignored when a tag or a digest is given
  std::string digest;  ///< only this manifest or index, from the lock
};

/// One manifest with the annotations of all descriptors that led to it.
struct Located {
  Entry entry;
  Json config;                     ///< descriptor
  std::vector<std::string> above;  ///< digests of the indexes that led here, outermost first
};

/// Reads all manifests, sorted by tag and digest, each digest once. Skips with a warning manifests that an index lists
/// and the source lacks, and types that slipway does not read, unless they were requested by name. When the source has
/// a pinned digest, a requested digest must be reachable from it.
/// @param unread  receives the names of the tags that the query left out; may be null
/// Errors: `not_found`, `corrupt`, `invalid`, `unreachable`, `denied`.
Result<std::vector<Located>> read_manifests(Origin& origin, const Source& source, const CatalogueQuery& query,
                                            const Reporter& reporter, std::vector<std::string>* unread = nullptr);

/// Returns the source's contents, for planning. `complete` is false when the query left something unread.
/// Errors: those of read_manifests(); `denied` when no digest makes the source trusted (trust.hpp).
Result<Catalogue> read_catalogue(Origin& origin, const Source& source, const CatalogueQuery& query,
                                 const Reporter& reporter);

}  // namespace slipway::artifact
