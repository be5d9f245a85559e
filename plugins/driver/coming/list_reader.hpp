// SPDX-License-Identifier: Apache-2.0
// plugins/driver/coming/list_reader.hpp - reads the package lists of package managers, which may be compressed, entry
// by entry and within limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::driver {

/// Where an entry of a list ends.
struct EntryForm {
  std::string_view end;  ///< "\n\n" in Debian's Packages, "</package>" in primary.xml
};

struct ListLimits {
  std::size_t file_bytes = std::size_t{256} << 20U;    ///< as it is on disk
  std::size_t unpacked_bytes = std::size_t{1} << 30U;  ///< Fedora's primary.xml has some 200 MB
  std::size_t entry_bytes = std::size_t{4} << 20U;
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

/// Calls `take` with each entry of a list, without its end; text that only begins a list or ends it is an entry, too.
/// gzip, xz, zstd, lz4, bzip2 and plain lists are read, whatever the file's name is.
/// @param file  for messages
/// Errors: those of `take`; `corrupt` the compression is broken, or a limit is exceeded; `timed_out`.
Status read_entries(std::string_view bytes, const std::string& file, const EntryForm& form, const ListLimits& limits,
                    const std::function<Status(std::string_view entry)>& take);

/// The same for a file of a root. Errors: also those of Host::read().
Status read_entries_of(const Host& host, const std::string& file, const EntryForm& form, const ListLimits& limits,
                       const std::function<Status(std::string_view entry)>& take);

/// Returns the newest time at which one of these paths of the root was changed, in seconds since 1970; 0: none exists.
std::int64_t newest_change(const Host& host, const std::vector<std::string>& paths);

}  // namespace slipway::driver
