// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <unistd.h>

#include <slipway/write/write_all.hpp>

namespace slipway {

Status write_all(int fd, std::string_view bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put >= 0) bytes.remove_prefix(static_cast<std::size_t>(put));
    if (put < 0 && errno != EINTR) return system_error("write", name, errno);
  }
  return {};
}

}  // namespace slipway
