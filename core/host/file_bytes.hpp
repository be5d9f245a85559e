// SPDX-License-Identifier: Apache-2.0
// core/host/file_bytes.hpp - whole reads, writes and copies on descriptors, with errors that name the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <slipway/result.hpp>
#include <slipway/write/write_all.hpp>

namespace slipway::core {

inline constexpr unsigned kPermissionBits = 07777;           ///< of a file's mode, set-user-id and the like among them
inline constexpr std::int64_t kNanoseconds = 1'000'000'000;  ///< in a second

/// All bytes from the descriptor's position on. Errors: `io`, and `invalid` beyond `limit_bytes`.
Result<std::string> read_all(int fd, std::string_view name, std::size_t limit_bytes);
using slipway::write_all;
/// From one descriptor's position to its end, into the other. Errors: as above.
Status copy_all(int from, int to, std::string_view name);

}  // namespace slipway::core
