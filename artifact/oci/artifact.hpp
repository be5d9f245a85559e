// SPDX-License-Identifier: Apache-2.0
// artifact/oci/artifact.hpp - the operations of the artifact worker, and the types shared by it and the core.
//
// Everything that parses bytes from outside (registries, layouts, archives) runs in a worker process: the shared
// object slipway-artifact.so answers the operations below through the same C entry as a plugin (sdk/slipway/abi.h).
//
//   catalogue  {source, cache, tag_prefixes?: [...], digest?}      -> Catalogue
//   fetch      {source, cache, layers: [descriptor…]}             -> {layers: [{digest, path}…], bytes}
//   stage      {source, cache, layer: descriptor, into: DIR}       -> {files, bytes}
//   build      {directory, output, tags: [...]}                    -> {digest, tags, layers}       (pkg build)
//   push       {layout, source, tags?}                             -> {digest, tags, roots, bytes}
//   pull       {source, cache, output, tags?}                      -> the same (to an OCI layout, or a file NAME.tar)
//   inspect    {source, tag?}                                      -> Catalogue, and indexes: [{tag, digest}…]
//
// The `digest` after a push or pull is the one for a spec to pin: the index's, if there is one.
//
// A descriptor is the OCI one (image-spec 1.1): {mediaType, digest, size, annotations}.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// The origin of packages: the value of a spec key of type `artifact-source`.
struct Source {
  std::string
      repository;         ///< "oci://host[:port]/name", or the absolute path of an OCI layout folder or a bundle (.tar)
  std::string tag;        ///< only this tag; empty: all tags
  std::string digest;     ///< only the manifest or index with this "sha256:…"; empty: any
  bool insecure = false;  ///< plain HTTP to a host that is not loopback
  bool trust_unsigned = false;  ///< `trust: unsigned`: accept content without a trusted digest
  std::string ca_file;          ///< PEM file of a private CA, in addition to the system's; empty: none
  std::string auth_file;        ///< docker config.json; empty: $DOCKER_CONFIG, $REGISTRY_AUTH_FILE, ~/.docker

  bool is_registry() const { return repository.starts_with("oci://"); }
};

/// Also accepts the short form (a string). Errors: `invalid`, naming the key.
Result<Source> source_from_json(const Json& value);

/// One manifest in a source.
struct Entry {
  std::string digest;         ///< of the manifest
  std::string tag;            ///< its own tag, or the tag of the index that lists it
  std::string artifact_type;  ///< artifactType, or the config's media type where there is none
  Json annotations;           ///< string to string: the index descriptor's, overridden by the manifest's own
  Json layers;                ///< the layer descriptors, as in the manifest
};

/// The contents of a source.
struct Catalogue {
  std::string source;                    ///< the repository, for messages
  bool complete = true;                  ///< false: the source has more
  std::vector<Entry> entries = {};       ///< sorted by tag, then digest
  std::vector<std::string> unread = {};  ///< further tags, whose manifests were not requested; sorted
};

Json to_json(const Catalogue& catalogue);

}  // namespace slipway::artifact
