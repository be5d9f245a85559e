// SPDX-License-Identifier: Apache-2.0
// sandbox/image_root.hpp - a sandbox with a foreign root as "/", and with programs of this machine beside its tree.
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox_child.hpp"

namespace slipway::sandbox {

/// A file to show, opened before anything was mounted.
struct OpenTool {
  std::string name;    ///< in kToolsFolder
  std::string source;  ///< in a form that mount(2) can follow: "/proc/self/fd/7"
};

/// Turns the empty folder `top` in memory, itself read-only, into a root folder with the same names as `image`: shows
/// its folders with the mounts in them, and makes its links again. Adds kToolsFolder with the tools, read-only, and
/// /dev, /proc and /tmp if the image lacks them. So links of the image lead to places of the image, and the image needs
/// no files for a tool of this machine to run.
/// @return a report with empty text on success
SandboxReport build_image_root(const std::string& image, const std::string& top, const std::vector<OpenTool>& tools);

}  // namespace slipway::sandbox
