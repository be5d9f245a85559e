// SPDX-License-Identifier: Apache-2.0
// artifact/pack/package.hpp - a package folder: package.yaml and the folders that become layers.
//
// docs/package-format.md describes package.yaml.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::artifact {

/// One layer of a manifest, taken from a folder beside package.yaml.
struct PackageLayer {
  std::string directory;  ///< relative to package.yaml
  std::string media_type;
  std::string compression;  ///< "zstd", "gzip", "xz" or "none"
  std::map<std::string, std::string> annotations;
};

struct PackageManifest {
  std::string tag;  ///< its own; empty: only the index's
  std::map<std::string, std::string> annotations;
  std::vector<PackageLayer> layers;
};

struct Package {
  std::string folder;  ///< of package.yaml, absolute
  std::string artifact_type;
  std::string tag;  ///< of the index that lists the manifests
  std::map<std::string, std::string> annotations;
  std::vector<PackageManifest> manifests;
};

/// Reads FOLDER/package.yaml. Errors: `not_found`, or `invalid` with file:line:column and what was expected.
Result<Package> read_package(const std::string& folder);

/// A text as a tag: '+', which tags cannot hold, becomes '_'. Errors: `invalid` for what is not a tag even so
/// (distribution-spec 1.1: [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}).
Result<std::string> to_tag(const std::string& text);

}  // namespace slipway::artifact
