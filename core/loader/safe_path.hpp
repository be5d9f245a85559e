// SPDX-License-Identifier: Apache-2.0
// core/loader/safe_path.hpp - who could replace a file: nobody but root and the caller may.
#pragma once

#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// Walks to a file or folder as the kernel does, links and all, and returns its path without links. It, every folder
/// and every link on the way belong to root or the caller, and none is writable by its group or by others; a folder of
/// root's with the sticky bit (/tmp) may be, since only owners replace things there.
/// Errors: `denied`, naming what anybody could change and the command that mends it; system_error().
Result<std::string> safe_path(const std::string& path);

}  // namespace slipway::core
