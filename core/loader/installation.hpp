// SPDX-License-Identifier: Apache-2.0
// core/loader/installation.hpp - where this slipway is installed, and the folders that its plugins are in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace slipway::core {

/// The folder above bin/ or libexec/slipway/ that the running program is in: "/usr", or a build folder, or wherever an
/// archive was unpacked. Empty when /proc does not tell.
std::filesystem::path own_prefix();

/// Whether this program was started by a loader that slipway brought along: it is part of a portable folder
/// (docs/portability.md), which may be anywhere, and is its own installation.
bool is_portable();

/// Where plugins are looked for: $SLIPWAY_PLUGIN_PATH (colon-separated; as root only when `trust_environment`), else
/// the installed folder, found relative to the running program (../lib/slipway/plugins), else the compiled-in one.
std::vector<std::string> plugin_folders(bool trust_environment);

/// The last two of these: where the plugins of an installation are, whatever the environment says.
std::string installed_plugin_folder();

}  // namespace slipway::core
