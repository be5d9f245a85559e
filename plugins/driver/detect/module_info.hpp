// SPDX-License-Identifier: Apache-2.0
// plugins/driver/detect/module_info.hpp - what a kernel module file says of itself (its .modinfo section), as modinfo
// shows it.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "base/modinfo/module_info.hpp"

namespace slipway::driver {

/// Reads a module's bytes: ELF, or that compressed with xz, zstd or gzip.
/// Errors: `corrupt` no ELF, no .modinfo, broken compression, or more than 512 MiB of it.
Result<ModuleInfo> read_module_info(std::string_view bytes);

/// The kernel release that a vermagic was made for: its first word.
std::string vermagic_release(std::string_view vermagic);

/// A signature of the kernel's kind is appended to an uncompressed module.
bool is_signed_module(std::string_view elf);

/// Takes off compression; bytes that are not compressed come back as they are. Errors: `corrupt`.
Result<std::string> decompress(std::string_view bytes);

}  // namespace slipway::driver
