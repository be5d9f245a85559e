// SPDX-License-Identifier: Apache-2.0
// core/host/path_image.hpp - the state of a path before a change, so that it can be restored: the journal's pre-image
// and a generation's original.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "base/write/new_file.hpp"

namespace slipway::core {

/// The form in the journal and the records: a PathImage, or an action kind's own object that contains several.
using Image = Json;

/// The state of a path. JSON: {"type": "absent|regular|directory|symlink|other", "mode", "uid", "gid", "mtime_ns",
/// "digest" (regular; the content is in the Originals), "points_to" (symlink), "attributes": {name: hex} (extended
/// attributes, if any), "device": {"type": "character|block|fifo", "major", "minor"} (other), "missing_parents":
/// [parents that did not exist] (absent)}
struct PathImage {
  std::string type;
  base::NewFile file = {};     ///< mode, owner, time and attributes, unless absent
  std::string digest = {};     ///< of a regular file
  std::string points_to = {};  ///< of a symlink
  std::string device = {};     ///< "character", "block" or "fifo"; empty: not a device
  unsigned major = 0;
  unsigned minor = 0;
  std::vector<std::string> missing_parents = {};  ///< of an absent path, outermost first
};

Image to_json(const PathImage& image);
PathImage path_image_from_json(const Image& image);

/// True when the image says that the path did not exist.
bool is_absent(const Image& image);

}  // namespace slipway::core
