// SPDX-License-Identifier: Apache-2.0
// plugins/driver/module/module_info.hpp - the metadata of a kernel module file (its .modinfo section), as modinfo shows
// it.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "base/modinfo/module_info.hpp"

namespace slipway::driver {

/// Reads a module's bytes: ELF, plain or compressed with xz, zstd or gzip. Errors: `corrupt` not ELF, no .modinfo,
/// invalid compression, or more than 512 MiB.
Result<base::ModuleInfo> read_module_info(std::string_view bytes);

/// Returns the kernel release of a vermagic: its first word.
std::string vermagic_release(std::string_view vermagic);

/// True when a kernel module signature is appended to an uncompressed module.
bool is_signed_module(std::string_view elf);

/// Decompresses the bytes; uncompressed bytes are returned unchanged. Errors: `corrupt`.
Result<std::string> decompress(std::string_view bytes);

}  // namespace slipway::driver
