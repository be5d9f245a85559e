// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include <slipway/regular_file.hpp>

namespace slipway::artifact {

Result<Fd> open_for_reading(const std::string& path) {
  SLIPWAY_TRY(file, open_regular(path));
  return Fd(file.release());
}

Result<Fd> create_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd) return system_error("create", path, errno);
  return fd;
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) { return read_regular(path, limit); }

Status write_all(int fd, std::span<const std::byte> bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("write", name, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status sync_directory(const std::string& directory) {
  const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return system_error("open", directory, errno);
  if (::fsync(fd.get()) != 0) return system_error("sync", directory, errno);
  return {};
}

Status replace_file(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return system_error("create", temporary, errno);
  const auto fill = [&]() -> Status {
    SLIPWAY_CHECK(write_all(fd.get(), std::as_bytes(std::span(bytes)), path));
    if (::fchmod(fd.get(), 0644) != 0 || ::fsync(fd.get()) != 0) return system_error("write", path, errno);
    if (std::rename(temporary.c_str(), path.c_str()) != 0) return system_error("rename", path, errno);
    return {};
  };
  Status done = fill();
  if (!done) ::unlink(temporary.c_str());
  return done ? sync_directory(parent_of(path)) : done;
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

Status remove_tree(const std::string& path) {
  std::error_code problem;
  std::filesystem::remove_all(path, problem);
  if (problem) return system_error("remove", path, problem.value());
  return {};
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace slipway::artifact
