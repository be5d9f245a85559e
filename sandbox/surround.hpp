// SPDX-License-Identifier: Apache-2.0
// sandbox/surround.hpp - a room whose "/" is a foreign root and which holds programs of this machine beside its tree.
#pragma once

#include <string>
#include <vector>

#include "sandbox/inside.hpp"

namespace slipway::core {

/// A file to be shown, opened before anything was mounted.
struct OpenTool {
  std::string name;    ///< in kToolsFolder
  std::string source;  ///< as mount(2) can follow it: "/proc/self/fd/7"
};

/// Makes of the empty folder `top` in memory, read-only itself, a root folder that has the same names as `image`: its
/// folders are shown with what is mounted in them, its links made anew. kToolsFolder is added, with the tools,
/// read-only, and /dev, /proc and /tmp where the image has none of that name. So links of the image lead to places of
/// the image, and nothing has to be in it for a tool of this machine to run.
/// @return a report with empty text when all went well
SandboxReport surround_root(const std::string& image, const std::string& top, const std::vector<OpenTool>& tools);

}  // namespace slipway::core
