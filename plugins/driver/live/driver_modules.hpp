// SPDX-License-Identifier: Apache-2.0
// plugins/driver/live/driver_modules.hpp - the kernel modules of the loaded driver and those that need them: unloading
// all of them, and loading them again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::driver {

/// The modules that were loaded before they were unloaded for a change. The record is in /run, so that the next apply
/// has it after a crash.
struct UnloadedModules {
  std::string version;               ///< of the driver
  std::vector<std::string> modules;  ///< in the order in which they can be unloaded
};

/// Returns the loaded ones, in the order in which they can be unloaded: "nvidia_fs", "gdrdrv", …, "nvidia".
std::vector<std::string> loaded_modules(const Host& host);

/// Returns the other loaded modules that need one of these, and so keep it from being unloaded.
std::vector<std::string> other_modules_on_top(const Host& host);

/// Unloads the loaded ones, after it has recorded them. Errors: `busy` one of them cannot be unloaded; the others are
/// loaded again.
Status unload_modules(const Host& host, const std::string& version);

std::optional<UnloadedModules> read_unloaded_modules(const Host& host);
void forget_unloaded_modules(const Host& host);

/// Loads the recorded ones that are not loaded. @return the failures: "gdrdrv: …"
std::vector<std::string> load_again(const Host& host, const UnloadedModules& unloaded);

/// Replaces whatever is loaded by the recorded modules, whose files are there again. @return the failures
std::vector<std::string> bring_back(const Host& host, const UnloadedModules& unloaded);

}  // namespace slipway::driver
