// SPDX-License-Identifier: Apache-2.0
// artifact/pack/build.hpp - `pkg build`: packs a package folder into an OCI layout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "artifact/io/progress.hpp"

namespace slipway::artifact {

struct BuildOptions {
  std::string directory;          ///< with package.yaml, absolute
  std::string output;             ///< the layout folder, absolute; created if missing
  std::vector<std::string> tags;  ///< further tags for the index
  std::int64_t mtime = 0;         ///< of all entries: SOURCE_DATE_EPOCH, else 0
};

/// Packs the layers, writes the manifests and lists them under the package's tag. An existing layout keeps its
/// contents: a manifest with its own tag only replaces the one of that tag.
/// @return {"digest": of the index, "tags": […], "layers": [digests]}
Result<Json> build_package(const BuildOptions& options, const Reporter& reporter);

}  // namespace slipway::artifact
