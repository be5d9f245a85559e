// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/serve.hpp - what a worker does: answers slipway's calls with one plugin.
#pragma once

#include <functional>

#include "core/worker/serve/plugin_library.hpp"

namespace slipway::core {

using LoadPlugin = std::function<Result<std::unique_ptr<PluginLibrary>>(const slipway_services* services)>;

/// The main function of a program that slipway starts with the words PLUGIN PARENT-PID MEMORY-LIMIT and descriptor 3
/// open. Settles in the process, loads the plugin, and serves until slipway is gone.
/// @return 64, when it was not started so
int serve_as_worker(int count, char** arguments, const LoadPlugin& load);

}  // namespace slipway::core
