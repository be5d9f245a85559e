// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <slipway/write/tree.hpp>

namespace slipway::artifact {

Result<Fd> create_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd) return system_error("create", path, errno);
  return fd;
}

Status sync_directory(const std::string& directory) {
  const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("open", directory, errno);
  if (::fsync(fd.get()) != 0) return system_error("sync", directory, errno);
  return {};
}

Status make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) {
      struct stat existing {};
      const int number = errno;  // EROFS and EACCES come before EEXIST on some filesystems
      if (::stat(part.c_str(), &existing) != 0) return system_error("create the folder", part, number);
    }
    if (end == std::string::npos) return {};
  }
}

Status remove_tree(const std::string& path) { return slipway::remove_tree(path); }

}  // namespace slipway::artifact
