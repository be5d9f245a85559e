// SPDX-License-Identifier: Apache-2.0
// base/modinfo/module_info.hpp - reads a kernel module's .modinfo section, as modinfo does.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::base {

/// "version", "vermagic", "license", "srcversion", "depends", …; the first value of a repeated key.
using ModuleInfo = std::map<std::string, std::string, std::less<>>;

/// Reads the uncompressed bytes of a module.
/// Errors: `corrupt`; `what` is the reason: "it is not an ELF file", "it has no .modinfo section".
Result<ModuleInfo> module_info_of(std::string_view bytes);

/// Reads an open file; as module_info_of().
Result<ModuleInfo> module_info_of_file(int fd);

}  // namespace slipway::base
