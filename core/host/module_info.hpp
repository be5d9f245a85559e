// SPDX-License-Identifier: Apache-2.0
// core/host/module_info.hpp - what a kernel module says of itself in its .modinfo section.
#pragma once

#include <map>
#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

/// "vermagic", "version", "depends", …; of fields that occur several times the first. The file is not compressed.
/// Errors: `invalid` when it is no ELF file or has no .modinfo.
Result<std::map<std::string, std::string>> read_module_info(int fd, const std::string& path);

}  // namespace slipway::core
