// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/elf_note.hpp - notes of a shared object from a container's image: nothing in it is
// trusted, and it is read with pread(2), so that a file that shrinks in the meantime gives a short read and not a
// signal. The note of a libcuda decides whether it is used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::hook {

/// Returns the description of the first note of `owner` in the section `section` of a 64-bit little-endian ELF file, up
/// to its first NUL; empty if not found. Errors: `invalid` when it is not such a file, or its tables are out of
/// range.
Result<std::string> read_note(int fd, std::string_view section, std::string_view owner);

/// True when a program has an interpreter (is linked dynamically). Errors: those above.
Result<bool> has_interpreter(int fd);

using Version = std::optional<std::vector<unsigned>>;  ///< empty: unknown

/// Parses "535.261.03" to {535, 261, 3}, which compares like versions; empty for a text that is not a version.
Version parse_version(std::string_view text);

struct HostVersions {
  Version driver;
  Version cuda;
};

/// True when an image's libcuda of the version `compat` is newer than the host's, and works with the host's driver.
/// @param note  result of read_note() for it: JSON, or another text
bool is_better_cuda(const HostVersions& host, const Version& compat, const std::string& note);

}  // namespace slipway::hook
