// SPDX-License-Identifier: Apache-2.0
// artifact/pack/package.hpp - a package folder: package.yaml and the folders of its layers.
//
// docs/package-format.md describes package.yaml.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// One layer of a manifest, packed from a folder beside package.yaml.
struct PackageLayer {
  std::string directory;  ///< relative to package.yaml
  std::string media_type;
  std::string compression;  ///< "zstd", "gzip", "xz" or "none"
  std::map<std::string, std::string> annotations;
};

struct PackageManifest {
  std::string tag;  ///< of this manifest alone; empty: only the index lists it
  std::map<std::string, std::string> annotations;
  std::vector<PackageLayer> layers;
};

struct Package {
  std::string folder;  ///< the folder of package.yaml, absolute
  std::string artifact_type;
  std::string tag;  ///< the tag of the index that lists the manifests
  std::map<std::string, std::string> annotations;
  std::vector<PackageManifest> manifests;
};

/// Reads FOLDER/package.yaml. Errors: `not_found`, or `invalid` with file:line:column and what was expected.
Result<Package> read_package(const std::string& folder);

/// Converts a text to a tag: '+', which tags must not contain, becomes '_'. Errors: `invalid` when the result is not a
/// tag (distribution-spec 1.1: [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}).
Result<std::string> to_tag(const std::string& text);

}  // namespace slipway::artifact
