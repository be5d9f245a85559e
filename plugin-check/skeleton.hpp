// SPDX-License-Identifier: Apache-2.0
// plugin-check/skeleton.hpp - a first plugin for somebody to go on from: it compiles, has tests, and does a small
// thing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::core {

/// A file of sdk/skeleton. "@name@" and "@Class@" in its text stand for the plugin's.
struct SkeletonFile {
  std::string_view name;
  std::string_view text;
};
const std::vector<SkeletonFile>& skeleton_files();

/// Writes the plugin `name` into a new folder; all of it or nothing.
/// @param name    of the component and the plugin (docs/manifest.md)
/// @param folder  must not be there yet; the one above it must
/// @return the names of the files, in order
/// Errors: `invalid` the name; `conflict` the folder is there; `not_found`, `denied`, `no_space`, `io`.
Result<std::vector<std::string>> write_skeleton(const std::string& name, const std::string& folder);

}  // namespace slipway::core
