// SPDX-License-Identifier: Apache-2.0
// core/host/path_image.hpp - what was there before a change, so that it can be brought back: the journal's pre-image
// and a generation's original.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "base/write/new_file.hpp"

namespace slipway::core {

/// As the journal and the records have it: a PathImage, or an object of a kind of action's own with several in it.
using Image = Json;

/// What a path was like. JSON: {"type": "absent|regular|directory|symlink|other", "mode", "uid", "gid", "mtime_ns",
/// "digest" (regular; the content is in the Originals), "points_to" (symlink), "attributes": {name: hex} (extended
/// ones, where there are any), "device": {"type": "character|block|fifo", "major", "minor"} (other),
/// "missing_parents": [paths that were not there] (absent)}
struct PathImage {
  std::string type;
  NewFile file = {};           ///< mode, owner, time and attributes of what is not absent
  std::string digest = {};     ///< of a regular file
  std::string points_to = {};  ///< of a symlink
  std::string device = {};     ///< "character", "block" or "fifo"; empty: no device
  unsigned major = 0;
  unsigned minor = 0;
  std::vector<std::string> missing_parents = {};  ///< of what is absent, outermost first
};

Image to_json(const PathImage& image);
PathImage path_image_from_json(const Image& image);

/// A path's image that says that nothing was there.
bool is_absent(const Image& image);

}  // namespace slipway::core
