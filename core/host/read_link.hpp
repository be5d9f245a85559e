// SPDX-License-Identifier: Apache-2.0
// core/host/read_link.hpp - where links inside a root point, as they are written.
#pragma once

#include <map>
#include <string>

#include <slipway/root_dir.hpp>

namespace slipway::core {

/// Empty when there is nothing at the path or it is no link. Errors: `io`, `denied`.
Result<std::string> read_link_at(const RootDir& root, const std::string& path);

/// The same for a name in an open folder; `path` is for messages.
Result<std::string> read_link_name(int folder, const std::string& name, const std::string& path);

/// Every link below a folder: its path relative to the folder, and where it points. Links are not followed.
Result<std::map<std::string, std::string>> links_below(const RootDir& root, const std::string& folder);

}  // namespace slipway::core
