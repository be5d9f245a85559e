// SPDX-License-Identifier: Apache-2.0
// artifact/oci/manifest.hpp - image manifests and indexes, parsed from bytes that match their digest.
//
// Source: OCI image-spec 1.1 (manifest.md, image-index.md); Docker's schema 2 differs in media types only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "artifact/oci/descriptor.hpp"

namespace slipway::artifact {

/// Longer manifests are refused without reading, as registries do.
inline constexpr std::uint64_t kMaxManifestBytes = 4UL << 20;

/// The limits for one source: a package has a few hundred manifests, and its tag's index lists them directly.
inline constexpr std::size_t kMaxManifestDepth = 4;
inline constexpr std::size_t kMaxManifests = 10'000;
/// Returns the error for a source that exceeds these limits.
Error too_many_manifests(const std::string& source);

/// A manifest, or an index of manifests.
struct Manifest {
  bool is_index = false;
  std::string media_type;             ///< from the body, or derived from its members
  std::string artifact_type;          ///< artifactType, or the config's media type where there is none
  Json annotations = Json::object();  ///< string to string, the body's own
  std::vector<Descriptor> manifests;  ///< of an index
  Json config;                        ///< of a manifest: the unchanged descriptor
  Json layers = Json::array();        ///< of a manifest: the unchanged descriptors, each well-formed
};

/// Parses a manifest whose bytes were already checked. `expected.media_type` may be empty (known by digest only).
/// Errors: `invalid` it is not JSON, members are missing or malformed, or the type differs from the announced one;
/// `unsupported` a type that slipway does not read (Docker schema 1).
Result<Manifest> parse_manifest(std::string_view bytes, const Descriptor& expected);

/// Checks the size first, then the digest. `expected.size` 0 means unknown. Errors: `corrupt`, with both digests.
Status check_bytes(std::string_view bytes, const Descriptor& expected, const std::string& source);

}  // namespace slipway::artifact
