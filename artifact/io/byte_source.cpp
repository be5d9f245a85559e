// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/byte_source.hpp"

#include <cerrno>

#include <fcntl.h>

#include "artifact/io/file.hpp"

namespace slipway::artifact {

Result<std::size_t> FileSource::read(std::span<std::byte> into) {
  while (true) {
    const ssize_t count = ::read(fd_.get(), into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return system_error("read", name_, errno);
  }
}

Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path) {
  SLIPWAY_TRY(fd, open_regular(path));
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(std::move(fd), path));
}

}  // namespace slipway::artifact
