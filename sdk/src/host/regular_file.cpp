// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>

namespace slipway {
namespace {

/// O_NONBLOCK: the file may have been replaced by a FIFO since it was checked.
constexpr int kReading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device node";
  }
}

Status expect_regular(const Fd& file, std::string_view path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error("look at", path, errno);
  if (S_ISREG(info.st_mode)) return {};
  return Error{.code = ErrorCode::invalid,
               .what = std::string(path) + " is not a regular file but " + kind_of(info.st_mode),
               .where = std::string(path),
               .next = "find out who made this file; remove it, or restore the file that belongs there"};
}

/// @param open  open(2) of `path` with these flags
template <class Open>
Result<Fd> open_after_a_look(std::string_view path, int flags, const Open& open) {
  Result<Fd> place = open(O_PATH | O_CLOEXEC | flags);
  if (!place) return place;
  SLIPWAY_CHECK(expect_regular(*place, path));
  Result<Fd> file = Fd(::open(("/proc/self/fd/" + std::to_string(place->get())).c_str(), kReading));
  if (!*file && errno == ENOENT) file = open(kReading | flags);  // /proc is missing
  if (!file) return file;
  if (!*file) return system_error("open", path, errno);
  SLIPWAY_CHECK(expect_regular(*file, path));
  return file;
}

Error too_long(std::string_view name, std::size_t limit_bytes) {
  return Error{
      .code = ErrorCode::invalid,
      .what = std::string(name) + " is longer than the " + std::to_string(limit_bytes) + " bytes that are read of it",
      .where = std::string(name),
      .next = "find out who wrote this file; remove it, or restore the file that belongs there"};
}

}  // namespace

Result<Fd> open_regular(const RootDir& root, std::string_view path, int flags) {
  return open_after_a_look(path, flags, [&](int wanted) { return root.open_at(path, wanted); });
}

Result<Fd> open_regular(int folder, const std::string& name, std::string_view path, int flags) {
  return open_after_a_look(path, flags, [&](int wanted) -> Result<Fd> {
    Fd fd(::openat(folder, name.c_str(), wanted));
    if (!fd) return system_error("open", path, errno);
    return fd;
  });
}

Result<Fd> open_regular(const std::string& path, int flags) { return open_regular(AT_FDCWD, path, path, flags); }

Result<std::string> read_all(int fd, std::string_view name, std::size_t limit_bytes) {
  std::string bytes;
  std::array<char, 1 << 16> part;
  for (;;) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got == 0) return bytes;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", name, errno);
    bytes.append(part.data(), static_cast<std::size_t>(got));
    if (bytes.size() > limit_bytes) return too_long(name, limit_bytes);
  }
}

Result<std::string> read_range(int fd, std::string_view name, std::uint32_t offset_bytes, std::uint32_t size_bytes) {
  constexpr std::size_t kStep = 1 << 16;  // a short file needs no more memory than its size
  std::string bytes;
  while (bytes.size() < size_bytes) {
    const std::size_t before = bytes.size();
    const std::size_t step = std::min<std::size_t>(size_bytes - before, kStep);
    bytes.resize(before + step);
    const ssize_t got = ::pread(fd, bytes.data() + before, step, static_cast<off_t>(offset_bytes + before));
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", name, errno);
    if (got == 0) break;
  }
  return bytes;
}

Result<std::string> read_regular(const RootDir& root, std::string_view path, std::size_t limit_bytes, int flags) {
  SLIPWAY_TRY(file, open_regular(root, path, flags));
  return read_all(file.get(), path, limit_bytes);
}

Result<std::string> read_regular(const std::string& path, std::size_t limit_bytes, int flags) {
  SLIPWAY_TRY(file, open_regular(path, flags));
  return read_all(file.get(), path, limit_bytes);
}

}  // namespace slipway
