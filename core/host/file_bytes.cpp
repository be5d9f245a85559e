// SPDX-License-Identifier: Apache-2.0
#include "core/host/file_bytes.hpp"

#include <cerrno>
#include <vector>

#include <unistd.h>

namespace slipway::core {
namespace {

constexpr std::size_t kChunkBytes = 1 << 18;

/// Hands every chunk to `take`, which answers a Status.
template <class Take>
Status for_each_chunk(int fd, std::string_view name, Take take) {
  std::vector<char> buffer(kChunkBytes);
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got == 0) return {};
    if (got > 0) SLIPWAY_CHECK(take(std::string_view(buffer.data(), static_cast<std::size_t>(got))));
    if (got < 0 && errno != EINTR) return system_error("read", name, errno);
  }
}

}  // namespace

Result<std::string> read_all(int fd, std::string_view name, std::size_t limit_bytes) {
  std::string bytes;
  SLIPWAY_CHECK(for_each_chunk(fd, name, [&](std::string_view chunk) -> Status {
    bytes += chunk;
    if (bytes.size() <= limit_bytes) return {};
    return Error{
        ErrorCode::invalid,
        std::string(name) + " is longer than the " + std::to_string(limit_bytes) + " bytes that are read of it",
        std::string(name),
        {},
        {}};
  }));
  return bytes;
}

Status copy_all(int from, int to, std::string_view name) {
  return for_each_chunk(from, name, [&](std::string_view chunk) { return write_all(to, chunk, name); });
}

}  // namespace slipway::core
