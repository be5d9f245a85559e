// SPDX-License-Identifier: Apache-2.0
// artifact/oci/descriptor.hpp - the OCI descriptor, which identifies a blob by type, digest and size.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// A descriptor of image-spec 1.1. `size` is in bytes.
struct Descriptor {
  std::string media_type;
  std::string digest;
  std::uint64_t size = 0;
  Json annotations = Json::object();  ///< string to string
  std::string artifact_type;          ///< only when the descriptor itself has it

  /// Returns the annotation, or an empty string.
  std::string annotation(const char* key) const;
};

Json to_json(const Descriptor& descriptor);

/// Errors: `invalid` when digest or size are missing or malformed; messages use `what` for the descriptor's place.
Result<Descriptor> descriptor_from_json(const Json& value, const std::string& what);

/// Describes a layer for error messages: its role or title, and the start of its digest.
std::string describe(const Descriptor& descriptor);

namespace annotation {
inline constexpr char kRefName[] = "org.opencontainers.image.ref.name";
inline constexpr char kTitle[] = "org.opencontainers.image.title";
inline constexpr char kLayerRole[] = "dev.slipway.layer";       ///< the purpose of a layer: "userspace", "modules", …
inline constexpr char kLayerSize[] = "dev.slipway.layer.size";  ///< length of the layer's uncompressed tar, in bytes
}  // namespace annotation

namespace media_type {
inline constexpr char kIndex[] = "application/vnd.oci.image.index.v1+json";
inline constexpr char kManifest[] = "application/vnd.oci.image.manifest.v1+json";
inline constexpr char kDockerList[] = "application/vnd.docker.distribution.manifest.list.v2+json";
inline constexpr char kDockerManifest[] = "application/vnd.docker.distribution.manifest.v2+json";
inline constexpr char kEmpty[] = "application/vnd.oci.empty.v1+json";
}  // namespace media_type

}  // namespace slipway::artifact
