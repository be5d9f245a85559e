// SPDX-License-Identifier: Apache-2.0
// core/loader/own_prefix.hpp - where this slipway is installed, told from where the running program is.
#pragma once

#include <filesystem>

namespace slipway::core {

/// The folder above bin/ or libexec/slipway/ that the running program is in: "/usr", or a build folder, or wherever an
/// archive was unpacked. Empty when /proc does not tell.
std::filesystem::path own_prefix();

/// Whether this program was started by a loader that slipway brought along: it is part of a portable folder
/// (docs/portability.md), which may be anywhere, and is its own installation.
bool is_portable();

}  // namespace slipway::core
