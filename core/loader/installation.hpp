// SPDX-License-Identifier: Apache-2.0
// core/loader/installation.hpp - the path of this slipway's installation, and the folders of its plugins.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace slipway::core {

/// Returns the folder above bin/ or libexec/slipway/ of the running program: "/usr", a build folder, or the folder of
/// an unpacked archive. Empty when /proc does not tell.
std::filesystem::path own_prefix();

/// True when a loader that comes with slipway started this program. The program is then part of a portable folder
/// (docs/portability.md), which may be anywhere and is its own installation.
bool is_portable();

/// Returns the folders to search for plugins: $SLIPWAY_PLUGIN_PATH (colon-separated; as root only when
/// `trust_environment`), else the installed folder relative to the running program (../lib/slipway/plugins), else the
/// compiled-in one.
std::vector<std::string> plugin_folders(bool trust_environment);

/// The last two of these: the plugins of an installation, independent of the environment.
std::string installed_plugin_folder();

}  // namespace slipway::core
