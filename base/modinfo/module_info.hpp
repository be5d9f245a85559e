// SPDX-License-Identifier: Apache-2.0
// base/modinfo/module_info.hpp - what a kernel module says of itself in its .modinfo section, as modinfo
// shows it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway {

/// "version", "vermagic", "license", "srcversion", "depends", …; of a key that is there several times, the first.
using ModuleInfo = std::map<std::string, std::string, std::less<>>;

/// Of a module's bytes, which are not compressed.
/// Errors: `corrupt`; `what` is the reason: "it is not an ELF file", "it has no .modinfo section".
Result<ModuleInfo> module_info_of(std::string_view bytes);

/// Of an open file; as module_info_of().
Result<ModuleInfo> module_info_of_file(int fd);

}  // namespace slipway
