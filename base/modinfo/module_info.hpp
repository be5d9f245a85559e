// SPDX-License-Identifier: Apache-2.0
// base/modinfo/module_info.hpp - reads a kernel module's .modinfo section, as modinfo does, and finds its signature.
#pragma once

#include <functional>
#include <map>
#include <optional>
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

/// Returns the PKCS#7 message that scripts/sign-file appended to an uncompressed module, a part of `bytes`; nothing
/// when the module is not signed. Errors: `corrupt` the trailer names more bytes than the module has, more than 64 KiB,
/// or another kind of signature; `what` is the reason.
Result<std::optional<std::string_view>> module_signature_of(std::string_view bytes);

}  // namespace slipway::base
