// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/plugin_call.hpp - one call of a plugin, whose answer may be anything.
#pragma once

#include "core/worker/serve/plugin_library.hpp"

namespace slipway::core {

/// Exceptions that get out of the plugin, and answers that are none, become errors of code `plugin_defect`.
PluginAnswer call_plugin(const slipway_plugin& plugin, const std::string& op, const Json& request);

/// Asks the entry for the plugin's table. Errors: words on what it answered.
Result<slipway_plugin> open_entry(slipway_plugin_open_fn entry, const slipway_services* services);

}  // namespace slipway::core
