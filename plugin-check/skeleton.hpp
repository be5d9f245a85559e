// SPDX-License-Identifier: Apache-2.0
// plugin-check/skeleton.hpp - writes a first plugin for its author to extend: it compiles, has tests, and does a small
// thing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::plugin_check {

/// A file of sdk/skeleton. "@name@" and "@Class@" in its text are replaced by the plugin's.
struct SkeletonFile {
  std::string_view name;
  std::string_view text;
};
const std::vector<SkeletonFile>& skeleton_files();

/// Writes the plugin `name` into a new folder, completely or not at all.
/// @param name    of the component and the plugin (docs/manifest.md)
/// @param folder  must not exist yet; its parent must
/// @return the names of the files, in order
/// Errors: `invalid` the name; `conflict` the folder exists; `not_found`, `denied`, `no_space`, `io`.
Result<std::vector<std::string>> write_skeleton(const std::string& name, const std::string& folder);

}  // namespace slipway::plugin_check
