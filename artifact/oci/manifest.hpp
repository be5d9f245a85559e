// SPDX-License-Identifier: Apache-2.0
// artifact/oci/manifest.hpp - image manifests and indexes, parsed from the bytes that their digest names.
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

/// Longer manifests are refused unread, as registries do.
inline constexpr std::uint64_t kMaxManifestBytes = 4UL << 20;

/// What one source may list: a package has a few hundred manifests, and its tag's index lists them directly.
inline constexpr std::size_t kMaxManifestDepth = 4;
inline constexpr std::size_t kMaxManifests = 10'000;
/// The error for a source that lists more than that.
Error too_many_manifests(const std::string& source);

/// A manifest, or an index of manifests.
struct Manifest {
  bool is_index = false;
  std::string media_type;             ///< what the body says it is, or what its members amount to
  std::string artifact_type;          ///< artifactType, or the config's media type where there is none
  Json annotations = Json::object();  ///< string to string, the body's own
  std::vector<Descriptor> manifests;  ///< of an index
  Json config;                        ///< of a manifest: the descriptor as it stands
  Json layers = Json::array();        ///< of a manifest: the descriptors as they stand, each well-formed
};

/// Parses a manifest whose bytes were checked already. `expected.media_type` may be empty (known by digest only).
/// Errors: `invalid` no JSON, members missing or malformed, another type than announced; `unsupported` a type that
/// slipway does not read (Docker schema 1).
Result<Manifest> parse_manifest(std::string_view bytes, const Descriptor& expected);

/// Size first, then digest. `expected.size` 0 stands for unknown. Errors: `corrupt`, with both digests.
Status check_bytes(std::string_view bytes, const Descriptor& expected, const std::string& source);

}  // namespace slipway::artifact
