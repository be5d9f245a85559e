// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/elf_note.hpp - notes of a shared object that a container's image brought: nothing of it
// is trusted, and it is read with pread(2), so that a file that shrinks meanwhile is a short read and no signal. What
// such a note of a libcuda says decides whether it is used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::hook {

/// The description of the first note of `owner` in the section `section` of a 64-bit little-endian ELF file, up to its
/// first NUL; empty where there is none. Errors: `invalid` when it is no such file, or its tables lead outside.
Result<std::string> read_note(int fd, std::string_view section, std::string_view owner);

/// Whether a program asks for an interpreter (is linked dynamically). Errors: as above.
Result<bool> has_interpreter(int fd);

using Version = std::optional<std::vector<unsigned>>;  ///< nothing: it is not known

/// "535.261.03" as {535, 261, 3}, which compares as versions do; nothing for a text that is not a version.
Version parse_version(std::string_view text);

struct HostVersions {
  Version driver;
  Version cuda;
};

/// Whether an image's libcuda of the version `compat` is newer than the host's, and works on the host's driver.
/// @param note  what read_note() gave of it: JSON, or something else
bool is_better_cuda(const HostVersions& host, const Version& compat, const std::string& note);

}  // namespace slipway::hook
