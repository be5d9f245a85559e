// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/elf_note.hpp - notes of a shared object that a container's image brought: nothing of it
// is trusted, and it is read with pread(2), so that a file that shrinks meanwhile is a short read and no signal.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::hook {

/// The description of the first note of `owner` in the section `section` of a 64-bit little-endian ELF file, up to its
/// first NUL; empty where there is none. Errors: `invalid` when it is no such file, or its tables lead outside.
Result<std::string> read_note(int fd, std::string_view section, std::string_view owner);

/// Whether a program asks for an interpreter (is linked dynamically). Errors: as above.
Result<bool> has_interpreter(int fd);

}  // namespace slipway::hook
