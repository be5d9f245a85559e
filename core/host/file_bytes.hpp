// SPDX-License-Identifier: Apache-2.0
// core/host/file_bytes.hpp - whole reads, writes and copies on descriptors, with errors that name the file.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::core {

/// All bytes from the descriptor's position on. Errors: `io`, and `invalid` beyond `limit_bytes`.
Result<std::string> read_all(int fd, std::string_view name, std::size_t limit_bytes);
/// Errors: `no_space`, `io`.
Status write_all(int fd, std::string_view bytes, std::string_view name);
/// From one descriptor's position to its end, into the other. Errors: as above.
Status copy_all(int from, int to, std::string_view name);

}  // namespace slipway::core
