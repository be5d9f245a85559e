// SPDX-License-Identifier: Apache-2.0
// core/loader/plugin_folders.hpp - the folders that plugins are in.
#pragma once

#include <string>
#include <vector>

namespace slipway::core {

/// Where plugins are looked for: $SLIPWAY_PLUGIN_PATH (colon-separated; as root only when `trust_environment`), else
/// the installed folder, found relative to the running program (../lib/slipway/plugins), else the compiled-in one.
std::vector<std::string> plugin_folders(bool trust_environment);

}  // namespace slipway::core
