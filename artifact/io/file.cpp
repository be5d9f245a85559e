// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/write/tree.hpp"

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
      const int number = errno;  // EROFS and EACCES take precedence over EEXIST on some filesystems
      if (::stat(part.c_str(), &existing) != 0) return system_error("create the folder", part, number);
    }
    if (end == std::string::npos) return {};
  }
}

Status check_room(int fd, std::uint64_t bytes, const std::string& name) {
  constexpr std::uint64_t kMaxReservedBytes = std::uint64_t{1} << 30U;
  constexpr std::uint64_t kReservedPart = 20;
  struct statvfs info {};
  if (::fstatvfs(fd, &info) != 0) return system_error("look at", name, errno);
  const std::uint64_t reserve =
      std::min(std::uint64_t{info.f_blocks} * info.f_frsize / kReservedPart, kMaxReservedBytes);
  const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
  if (bytes <= free && free - bytes >= reserve) return {};
  return Error{
      .code = ErrorCode::no_space,
      .what = name + " needs " + std::to_string(bytes) + " more bytes, and " + std::to_string(free) +
              " are free there, of which " + std::to_string(reserve) + " are reserved for other users",
      .where = name,
      .next = "free some space there, or name another folder; if the size is implausible, do not trust the source"};
}

Status remove_tree(const std::string& path) { return slipway::base::remove_tree(path); }

}  // namespace slipway::artifact
