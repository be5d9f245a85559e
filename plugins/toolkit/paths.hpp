// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/paths.hpp - the parts of a path.
#pragma once

#include <string>
#include <string_view>

namespace slipway::toolkit {

inline std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// Empty for a name in "/" and for one without a folder.
inline std::string folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "" : std::string(path.substr(0, slash));
}

}  // namespace slipway::toolkit
