// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/plugin_library.hpp - a plugin's shared object, loaded; only used inside a worker.
#pragma once

#include <memory>
#include <string>

#include <slipway/abi.h>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

/// The result of a call of the plugin.
struct PluginAnswer {
  int status = SLIPWAY_FAILED;
  Json value;  ///< an error object unless `status` is SLIPWAY_OK
};

class PluginLibrary {
 public:
  /// Loads the file (RTLD_NOW, RTLD_LOCAL) and calls its entry. It is never unloaded: the process ends first.
  /// Errors: `plugin_defect` it cannot be loaded, has no entry, or its entry failed.
  static Result<std::unique_ptr<PluginLibrary>> load(const std::string& path, const slipway_services* services);
  virtual ~PluginLibrary() = default;

  /// Exceptions that the plugin throws, and invalid answers, become errors of code `plugin_defect`.
  virtual PluginAnswer call(const std::string& op, const Json& request) = 0;
};

/// Exceptions that the plugin throws, and invalid answers, become errors of code `plugin_defect`.
PluginAnswer call_plugin(const slipway_plugin& plugin, const std::string& op, const Json& request);

/// Gets the plugin's table from its entry. Errors: a description of the entry's answer.
Result<slipway_plugin> open_entry(slipway_plugin_open_fn entry, const slipway_services* services);

}  // namespace slipway::core
